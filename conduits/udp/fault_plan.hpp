#pragma once

#include "conduits/udp/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace aqueduct::conduits::udp {

/// What a FaultyCarrier does to datagrams. Probabilities are from 0 to 1; nothing is on by default.
struct FaultPlan {
  std::uint64_t seed = 1;
  double loss = 0;       ///< never arrives
  double duplicate = 0;  ///< arrives twice, each with a delay of its own
  double reorder = 0;    ///< is held back for `hold` beyond its delay, so that later ones overtake it
  Time hold = kMillisecond / 4;
  double corrupt = 0;  ///< arrives with one to three bits flipped …
  std::size_t corrupt_bytes =
      48;               ///< … among its first so many bytes: a real network's checksum guards the rest
  Time delay = 0;       ///< of all
  Time jitter = 0;      ///< the delay varies by as much, up and down, evenly
  std::size_t mtu = 0;  ///< longer ones vanish without a word; 0: none do
  double rate = 0;      ///< bytes per second that get through; 0: no limit
  std::size_t queue = 256 * 1024;  ///< bytes that wait for the rate; what comes on top is dropped

  /// Whether anything at all happens to datagrams.
  bool any() const noexcept;
};

/// A plan, or what is wrong with its text.
struct ParsedFaultPlan {
  FaultPlan plan;
  std::string problem;  ///< for people; empty when all is well
};

/// Reads what AQUEDUCT_UDP_FAULTS says: any of
/// "loss=1%,delay=1ms,jitter=0.5ms,reorder=25%,hold=250us,duplicate=5%,corrupt=1%,corrupt_bytes=48,mtu=1400,
/// rate=100M,queue=256K,seed=7", without blanks. Shares are percentages, times have a unit (ns, us, ms, s), bytes may have a K, M or G
/// (powers of 1024), and the rate is in bytes per second. An empty text is an empty plan.
ParsedFaultPlan parse_fault_plan(std::string_view text);

}  // namespace aqueduct::conduits::udp
