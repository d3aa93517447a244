#pragma once

#include <aqueduct/status.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace example {

/// Says why on stderr and ends this process; the launcher then ends the other ranks.
///
/// The exit is at once: other ranks of this process may be waiting, on their threads, for the one that failed.
[[noreturn]] inline void fail(const std::string& why, int exit_code = 1) {
  std::fflush(stdout);
  std::fprintf(stderr, "failed: %s\n", why.c_str());
  std::_Exit(exit_code);
}

/// Goes on only if all went well. `what` names the step, for the message.
inline void need(aqueduct::Status status, const char* what) {
  if (!status) fail(std::string(what) + ": " + status.text(), status.exit_code());
}

/// The value of a Result, or the end of the program.
template <class T>
T need(aqueduct::Result<T> result, const char* what) {
  need(result.status(), what);
  return std::move(*result);
}

}  // namespace example
