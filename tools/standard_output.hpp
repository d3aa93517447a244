#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace aqueduct::tools {

/// The status of a program that has printed all it has to say: `status`, or 1 if standard output did not take it all.
inline int after_output(const char* program, int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "%s: standard output: %s\n", program,
               errno != 0 ? std::strerror(errno) : "part of it was not written");
  return status != 0 ? status : 1;
}

}  // namespace aqueduct::tools
