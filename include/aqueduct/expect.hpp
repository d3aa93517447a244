#pragma once

/// Checks for misuse in checked builds only (AQUEDUCT_CHECKED, on in the dev, asan and tsan presets). A failed check
/// ends the program and prints the place and the reason. In a release build it compiles to nothing.
#ifdef AQUEDUCT_CHECKED
namespace aqueduct::detail {
[[noreturn]] void misuse(const char* file, int line, const char* why) noexcept;
}
#define AQUEDUCT_EXPECT(condition, why) \
  ((condition) ? static_cast<void>(0) : ::aqueduct::detail::misuse(__FILE__, __LINE__, why))
#else
#define AQUEDUCT_EXPECT(condition, why) static_cast<void>(0)
#endif
