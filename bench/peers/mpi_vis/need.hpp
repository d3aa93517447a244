#pragma once

#include <aqueduct/status.hpp>

#include "bench/peers/mpi.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace peers {

/// Prints the reason on stderr and ends both ranks with exit code 1.
[[noreturn]] inline void fail(const std::string& why) {
  std::fflush(stdout);
  std::fprintf(stderr, "mpi_vis: %s\n", why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();  // not reached, but MPI's header does not declare that
}

/// Ends the program unless the status is ok. `what` names the step, for the message.
inline void need(aqueduct::Status status, const char* what) {
  if (!status) [[unlikely]]
    fail(std::string(what) + ": " + status.text());
}
template <class T>
T need(aqueduct::Result<T> result, const char* what) {
  need(result.status(), what);
  return std::move(*result);
}

}  // namespace peers
