#include "runtime/host.hpp"

#include <algorithm>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace aqueduct::runtime {

std::string host_identity(const Config& config, const std::string& launchers_name) {
  if (std::string given = config.text("host_id"); !given.empty()) return "id:" + given;
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat pids {};
  const bool known = ::stat("/proc/self/ns/pid", &pids) == 0;
  return std::string(name) + "/" + boot + "/" + (known ? std::to_string(pids.st_ino) : "") + "/" +
         launchers_name;
}

std::size_t processors_of_host() noexcept {
  return static_cast<std::size_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

}  // namespace aqueduct::runtime
