#pragma once

#include "conduits/ibv/objects.hpp"
#include "core/clock.hpp"

#include <cstdint>

namespace aqueduct::conduits::ibv {

/// What all parts of one endpoint share: the library, the first port and the objects opened on it, the settings, the
/// rank and the clock.
struct Environment {
  const Verbs& verbs;
  const Port& port;
  core::Log& log;
  IbvOptions options;
  std::uint64_t job;
  Rank me;
  Rank ranks;  ///< of the job
  Objects objects;
  core::EndpointClock clock;

  /// Logs that the device refuses something. `what` follows "refuses".
  Status refused(const char* what, int error) const noexcept;

  const Sizes& sizes() const noexcept { return objects.sizes; }
  /// Access rights of peers to segments, for ibv_reg_mr.
  int segment_access() const noexcept {
    return IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
           (sizes().atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0);
  }
  /// Access rights for memory that only this endpoint uses.
  int local_access() const noexcept {
    return IBV_ACCESS_LOCAL_WRITE | (sizes().read_anywhere ? 0 : IBV_ACCESS_REMOTE_WRITE);
  }
};

}  // namespace aqueduct::conduits::ibv
