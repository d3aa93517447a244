#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace aqueduct::tools {

/// What this program found for SIGXFSZ when it started: what it starts itself gets it back.
inline void (*file_limit_signal)(int) = SIG_DFL;

/// Occupies those of the descriptors 0 to 2 that are closed: a file that the program opens would get the number, and with it what
/// the program prints. Writing to a closed standard output fails as before, also in the program that this one becomes.
/// Writing beyond `ulimit -f` fails too, as to a full disk, in place of the signal that would end the program without a word.
inline void keep_standard_places() noexcept {
  for (int place = STDIN_FILENO; place <= STDERR_FILENO; ++place) {
    if (::fcntl(place, F_GETFD) >= 0) continue;
    static_cast<void>(
        ::open("/dev/null", place == STDERR_FILENO ? O_WRONLY : O_RDONLY));  // the lowest free number
  }
  file_limit_signal = std::signal(SIGXFSZ, SIG_IGN);
}

/// The status of a program that has printed all it has to say: `status`, or 1 if standard output did not take it all.
inline int after_output(const char* program, int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "%s: standard output: %s\n", program,
               errno != 0 ? std::strerror(errno) : "part of it was not written");
  return status != 0 ? status : 1;
}

/// The status of a program that such an error has ended: 1 if it is of standard output, for which `after_output` has the words;
/// otherwise `status`, and the error is printed here.
inline int after_system_error(const char* program, const std::system_error& error, int status = 1) {
  if (std::ferror(stdout) != 0) return 1;
  std::fprintf(stderr, "%s: %s\n", program, error.what());
  return status;
}

/// Says that memory has run out, and returns `status`.
inline int after_no_memory(const char* program, int status) {
  std::fprintf(stderr, "%s: there is not enough memory (a limit, `ulimit -v`?); smaller numbers may fit\n",
               program);
  return status;
}

}  // namespace aqueduct::tools
