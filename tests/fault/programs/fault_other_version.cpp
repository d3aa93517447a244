// A process that claims another version of the library: joins, and prints the answer.

#include <aqueduct/version.hpp>

#include "bootstrap/client.hpp"

#include <cstdio>
#include <cstdlib>

using namespace aqueduct;

int main() {
  const char* description = std::getenv(bootstrap::kVariable);
  if (description == nullptr) return 64;
  auto launcher = bootstrap::from_launcher(
      description, std::chrono::seconds(20),
      [](std::string_view why) { std::fprintf(stderr, "%s\n", why.data()); }, library_version() + 1);
  if (!launcher) return 65;
  const auto found = (*launcher)->exchange({});
  std::printf("other: %s\n", found.status().text().c_str());
  return found.status().exit_code();
}
