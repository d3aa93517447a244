#include "core/descriptors.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace aqueduct::core {
namespace {

constexpr int kStandard = 3;  // specified: unistd.h

}  // namespace

int above_standard(int descriptor) noexcept {
  if (descriptor < 0 || descriptor >= kStandard) return descriptor;
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kStandard);
  const int why = errno;
  ::close(descriptor);
  errno = why;
  return moved;
}

// The system gives the lowest free number, so this takes 0 to 2 if
// they are free, and then stops. O_PATH: reading and writing fail.
StandardPlaces::StandardPlaces() noexcept {
  for (int turn = 0; turn < kStandard; ++turn) {
    const int got = ::open("/", O_PATH | O_CLOEXEC);
    if (got >= 0 && got < kStandard) {
      taken_[static_cast<std::size_t>(got)] = true;
      continue;
    }
    if (got >= 0) ::close(got);
    return;
  }
}

// The program may have replaced a place by a file of its own, which is not closed.
void StandardPlaces::free() noexcept {
  for (int place = 0; place < kStandard; ++place) {
    if (!std::exchange(taken_[static_cast<std::size_t>(place)], false)) continue;
    const int flags = ::fcntl(place, F_GETFL);
    if (flags >= 0 && (flags & O_PATH) != 0) ::close(place);
  }
}

std::string no_descriptor(int problem) {
  if (problem == EMFILE) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return fmt::format(
        "this process has as many open files as it may, {}; raise the limit (ulimit -n {}), or run fewer "
        "endpoints in a process",
        limit.rlim_cur, 2 * limit.rlim_cur);
  }
  if (problem == ENFILE) return "this host has as many open files as it may; raise fs.file-max (sysctl)";
  return std::strerror(problem);
}

}  // namespace aqueduct::core
