#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>

namespace aqueduct::conduits::ucx {

/// Starts every message: UCX does not say whose it is.
struct PacketHead {
  Rank from;
  std::uint32_t job;  ///< of whose number this is the lower half: strangers' messages are not for us
};
static_assert(sizeof(PacketHead) == 8);

constexpr unsigned kPacketId = 1;  ///< among UCX's active messages

}  // namespace aqueduct::conduits::ucx
