#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::sim {

/// Virtual time, and times between two moments of it.
using Picoseconds = std::uint64_t;

/// The moment at which a job begins: not 0, since clocks read 0 as "not yet".
inline constexpr Picoseconds kBeginning = 1'000'000'000'000;

/// The values of the settings sim_…, in finer units than these have.
struct SimOptions {
  // The conventions of coll/model/loggp.hpp hold for all of these.
  Picoseconds latency = 1'000'000;               ///< L; at least 1
  Picoseconds overhead = 200'000;                ///< o
  Picoseconds gap = 50'000;                      ///< g
  std::uint64_t femtoseconds_per_byte = 80'000;  ///< G

  Picoseconds jitter = 0;               ///< a message flies up to this longer, by chance
  std::uint32_t losses = 0;             ///< of a million messages, how many are lost and sent again
  Picoseconds retransmit = 50'000'000;  ///< what a loss costs
  std::uint64_t seed = 1;

  std::size_t queue = 1 << 16;  ///< messages of one rank that may be under way
  std::size_t max_packet = 4096;
  Picoseconds poll = 100'000;  ///< a poll that finds nothing lasts so long, or until something arrives
  std::chrono::nanoseconds patience{1'000'000'000};  ///< real time, see VirtualTime

  /// n·G, rounded down to whole picoseconds.
  constexpr Picoseconds bytes_time(std::uint64_t bytes) const noexcept {
    return bytes * (femtoseconds_per_byte / 1000) + bytes * (femtoseconds_per_byte % 1000) / 1000;
  }
};

}  // namespace aqueduct::conduits::sim
