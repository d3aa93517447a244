#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::ofi {

/// The settings of every endpoint of a process.
struct OfiOptions {
  std::size_t packet = 8192;
  std::uint32_t queue = 512;            ///< outstanding operations
  std::size_t receive_bytes = 1 << 20;  ///< for arriving packets, in all
  std::size_t keep_registered = 0;  ///< unused bytes of local memory outside segments that stay registered
  bool register_local = false;      ///< although the provider does not ask for it
  /// How long a provider may keep requests to a lost peer. Chosen: shorter than the 2 s for which a lost peer may hold
  /// up others, and longer than packets that have already left can take.
  std::chrono::milliseconds give_back{1000};
};

}  // namespace aqueduct::conduits::ofi
