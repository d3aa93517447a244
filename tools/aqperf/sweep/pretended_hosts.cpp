#include "tools/aqperf/sweep/pretended_hosts.hpp"

#include "tools/aqperf/failure.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <stdlib.h>
#include <unistd.h>

namespace aqueduct::perf {

PretendedHosts::PretendedHosts(Rank hosts, Rank each) {
  std::error_code none;
  const auto folder = std::filesystem::temp_directory_path(none);
  // mkstemp puts letters of its own in place of the X.
  file_ = (none ? std::filesystem::path("/tmp") : folder) / "aqperf-hosts.XXXXXX";
  const int descriptor = ::mkstemp(file_.data());
  if (descriptor < 0)
    throw Failure(
        fmt::format("{}: {}; set TMPDIR to a folder that can be written", file_, std::strerror(errno)), 1);
  std::string list;
  for (Rank host = 0; host < hosts; ++host) list += fmt::format("host{} slots={}\n", host, each);
  const bool written = ::write(descriptor, list.data(), list.size()) == static_cast<ssize_t>(list.size());
  const int error = errno;
  ::close(descriptor);
  if (!written) {
    ::unlink(file_.c_str());
    throw Failure(fmt::format("{}: {}", file_, std::strerror(error)), 1);
  }
}

PretendedHosts::~PretendedHosts() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

PretendedHosts::PretendedHosts(PretendedHosts&& other) noexcept : file_(std::exchange(other.file_, {})) {}

std::vector<std::string> PretendedHosts::aqrun_options() const {
  return {"--hosts", file_, "--remote", "env {command}"};
}

}  // namespace aqueduct::perf
