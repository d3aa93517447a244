#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace aqueduct {

/// A time in picoseconds: a byte takes a fraction of a nanosecond on fast networks.
using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;

/// What a message of at least `bytes` bytes costs, in the LogGP model.
///
/// A message of n bytes is in place overhead + latency + n × femtoseconds_per_byte after its post; the next one can leave
/// gap + n × femtoseconds_per_byte after it.
/// Source: Alexandrov, Ionescu, Schauser and Scheiman, LogGP, J. Parallel Distrib. Comput. 44(1), 1997.
struct NetworkCost {
  std::uint64_t bytes = 0;                  ///< the smallest message to which it applies
  Picoseconds latency{0};                   ///< L: flight of the head
  Picoseconds overhead{0};                  ///< o: of the initiator's processor, for each message
  Picoseconds gap{0};                       ///< g: of the network port, for each message
  std::uint64_t femtoseconds_per_byte = 0;  ///< G
  /// Between two puts of a stream of them, at least. Less than the overhead where short puts share packets and system calls.
  /// 0: it was not measured, and is the overhead.
  Picoseconds interval{0};

  friend bool operator==(const NetworkCost&, const NetworkCost&) = default;
};

/// What communication with a peer costs: Endpoint::network_model.
struct NetworkModel {
  /// Where the numbers come from.
  enum class Origin : std::uint8_t {
    defaults,  ///< of the conduit (docs/network-model.md): nothing was measured on this machine
    profile,   ///< measured by `aqperf calibrate` on this machine
    conduit,   ///< the conduit knows them, as the simulated network does
  };
  static constexpr std::size_t kMostCosts = 8;

  Origin origin = Origin::defaults;
  std::uint32_t sizes = 1;                        ///< how many of `by_size` are used
  std::array<NetworkCost, kMostCosts> by_size{};  ///< in rising order of `bytes`; the first one begins at 0
  std::uint32_t injection_depth = 64;             ///< puts in flight beyond which more are no faster
  std::uint64_t inline_limit = 0;                 ///< largest put whose source is free when the call returns
  std::uint64_t peak_bytes = 0;                   ///< smallest put that reaches 90 % of the bandwidth
  std::uint64_t rendezvous_limit = 0;  ///< from this size on, puts go another way; 0: none was seen
  /// Of ranks that share a processor: how long one that waits keeps it before it yields it to the next one. 0: not measured.
  Picoseconds turn{0};
  std::uint64_t copy_femtoseconds_per_byte = 0;    ///< of a copy in this rank's memory
  std::uint64_t reduce_femtoseconds_per_byte = 0;  ///< of a sum of doubles

  std::span<const NetworkCost> costs() const noexcept { return {by_size.data(), sizes}; }
  /// The costs of a message of so many bytes.
  const NetworkCost& at(std::uint64_t bytes) const noexcept {
    std::size_t found = 0;
    while (found + 1 < sizes && by_size[found + 1].bytes <= bytes) ++found;
    return by_size[found];
  }
  /// From the post of a put to the arrival of its last byte.
  Picoseconds put_time(std::uint64_t bytes) const noexcept {
    const NetworkCost& cost = at(bytes);
    return cost.overhead + cost.latency + bytes_time(cost, bytes);
  }
  /// Between two puts of a stream of them.
  Picoseconds put_interval(std::uint64_t bytes) const noexcept {
    const NetworkCost& cost = at(bytes);
    const Picoseconds least = cost.interval.count() > 0 ? cost.interval : cost.overhead;
    const Picoseconds port = cost.gap + bytes_time(cost, bytes);
    return port > least ? port : least;
  }

 private:
  static constexpr Picoseconds bytes_time(const NetworkCost& cost, std::uint64_t bytes) noexcept {
    const std::uint64_t per_byte = cost.femtoseconds_per_byte;
    return Picoseconds(
        static_cast<std::int64_t>(bytes * (per_byte / 1000) + bytes * (per_byte % 1000) / 1000));
  }
};

}  // namespace aqueduct
