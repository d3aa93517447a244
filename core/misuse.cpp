#include <aqueduct/expect.hpp>

#include <cstdio>
#include <cstdlib>

namespace aqueduct::detail {

// Declared here too, since the header declares it only with AQUEDUCT_CHECKED: a program that is compiled with it may
// use a library that is not.
// NOLINTNEXTLINE(readability-redundant-declaration): for a checked library only
[[noreturn]] void misuse(const char* file, int line, const char* why) noexcept;

void misuse(const char* file, int line, const char* why) noexcept {
  std::fprintf(stderr, "aqueduct: misuse at %s:%d: %s\n", file, line, why);
  std::abort();
}

}  // namespace aqueduct::detail
