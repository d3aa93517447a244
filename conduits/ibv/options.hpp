#pragma once

#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::ibv {

/// The settings of all endpoints of a process.
struct IbvOptions {
  std::size_t packet = 4088;         ///< the longest message, in bytes; a multiple of 8
  std::uint32_t credits = 6;         ///< messages from one peer that have a receive here
  std::uint32_t queue = 512;         ///< outstanding requests to all peers
  std::uint32_t depth = 128;         ///< outstanding requests to one peer
  std::uint32_t inline_bytes = 192;  ///< asked for; the device may give less
  std::uint8_t timeout = 15;         ///< a packet is retransmitted after 4.096 us × 2^timeout
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;
  std::size_t keep_registered = 0;  ///< bytes of unused local memory outside segments that stay registered
  std::size_t pinned = std::size_t{4}
                       << 30;  ///< bytes of such memory registered at once: this rank's share of the host
  bool on_demand = true;       ///< use on-demand paging where pinning is refused and the device has it
  std::size_t rail_bytes = 64 << 10;  ///< the least share of a transfer for a rail
  bool shared_receive_queue = true;
  bool large_pages = true;  ///< asked of the system for segments
};

}  // namespace aqueduct::conduits::ibv
