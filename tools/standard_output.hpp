#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace aqueduct::tools {

/// Occupies those of the descriptors 0 to 2 that are closed: a file that the program opens would get the number, and with it what
/// the program prints. Writing to a closed standard output fails as before, also in the program that this one becomes.
inline void keep_standard_places() noexcept {
  for (int place = STDIN_FILENO; place <= STDERR_FILENO; ++place) {
    if (::fcntl(place, F_GETFD) >= 0) continue;
    static_cast<void>(
        ::open("/dev/null", place == STDERR_FILENO ? O_WRONLY : O_RDONLY));  // the lowest free number
  }
}

/// The status of a program that has printed all it has to say: `status`, or 1 if standard output did not take it all.
inline int after_output(const char* program, int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "%s: standard output: %s\n", program,
               errno != 0 ? std::strerror(errno) : "part of it was not written");
  return status != 0 ? status : 1;
}

}  // namespace aqueduct::tools
