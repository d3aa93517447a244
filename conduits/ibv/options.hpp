#pragma once

#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::ibv {

/// What the settings say of every endpoint of a process.
struct IbvOptions {
  std::size_t packet = 4088;         ///< the longest message, in bytes; a multiple of 8
  std::uint32_t credits = 6;         ///< messages from one peer that have room here
  std::uint32_t queue = 512;         ///< work requests under way at once, to all peers
  std::uint32_t depth = 128;         ///< the same to one peer
  std::uint32_t inline_bytes = 192;  ///< asked for; the device may give less
  std::uint8_t timeout = 15;         ///< 4.096 us × 2^timeout until a packet is sent again
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;
  std::size_t keep_registered = 0;            ///< of local memory outside segments that nobody uses
  std::size_t pinned = std::size_t{4} << 30;  ///< of such memory, at most: this rank's share of the host's
  bool on_demand = true;                      ///< where pinning is refused and the device can do without
  std::size_t rail_bytes = 64 << 10;          ///< the least share of a transfer that a rail is given
  bool shared_receive_queue = true;
  bool large_pages = true;  ///< asked for, of segments
};

}  // namespace aqueduct::conduits::ibv
