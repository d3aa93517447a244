#pragma once

#include "conduits/udp/carrier/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace aqueduct::conduits::udp {

/// What a FaultyCarrier does to datagrams. Probabilities are from 0 to 1; all faults are off by default.
struct FaultPlan {
  std::uint64_t seed = 1;
  double loss = 0;       ///< probability that a datagram never arrives
  double duplicate = 0;  ///< … that it arrives twice, each copy with its own delay
  double reorder = 0;  ///< … that it is delayed by `hold` on top of `delay`, so that later ones overtake it
  Time hold = kMillisecond / 4;
  double corrupt = 0;  ///< … that it arrives with one to three bits flipped
  /// Only the first `corrupt_bytes` are corrupted; a real network's checksum guards the rest.
  std::size_t corrupt_bytes = 48;
  Time delay = 0;                  ///< of every datagram
  Time jitter = 0;                 ///< the delay varies by up to this much, up and down, uniformly
  std::size_t mtu = 0;             ///< longer datagrams are dropped silently; 0: no limit
  double rate = 0;                 ///< bytes per second that get through; 0: no limit
  std::size_t queue = 256 * 1024;  ///< bytes that wait for `rate`; datagrams beyond that are dropped

  /// Whether the plan has any fault.
  bool any() const noexcept;
};

/// A plan, or the error in its text.
struct ParsedFaultPlan {
  FaultPlan plan;
  std::string problem;  ///< in words; empty when all is well
};

/// Parses AQUEDUCT_UDP_FAULTS: any of
/// "loss=1%,delay=1ms,jitter=0.5ms,reorder=25%,hold=250us,duplicate=5%,corrupt=1%,corrupt_bytes=48,mtu=1400,
/// rate=100M,queue=256K,seed=7", without blanks. Probabilities are percentages, times have a unit (ns, us, ms, s),
/// bytes may have a K, M or G (powers of 1024), and the rate is in bytes per second. An empty text is an empty plan.
ParsedFaultPlan parse_fault_plan(std::string_view text);

}  // namespace aqueduct::conduits::udp
