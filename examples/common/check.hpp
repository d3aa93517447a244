#pragma once

#include <aqueduct/status.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace example {

/// Prints the reason on stderr and ends this process; the launcher then ends the other ranks.
///
/// Exits at once: other ranks of this process, on their own threads, may be waiting for the one that failed.
[[noreturn]] inline void fail(const std::string& why, int exit_code = 1) {
  std::fflush(stdout);
  std::fprintf(stderr, "failed: %s\n", why.c_str());
  std::_Exit(exit_code);
}

/// Ends the program unless the status is ok. `what` names the step, for the message.
inline void need(aqueduct::Status status, const char* what) {
  if (!status) fail(std::string(what) + ": " + status.text(), status.exit_code());
}

/// The value of a Result; ends the program if it has none.
template <class T>
T need(aqueduct::Result<T> result, const char* what) {
  need(result.status(), what);
  return std::move(*result);
}

}  // namespace example
