#pragma once

#include "coll/model/replay.hpp"
#include "sim/link_times.hpp"
#include "sim/topology.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::sim {

/// What a link does with a message of n bytes: it is taken for gap + n·G, and the head goes on after `hop`.
struct LinkSpeed {
  coll::Picoseconds hop = 0;
  coll::Picoseconds gap = 0;
  std::uint64_t femtoseconds_per_byte = 0;

  friend bool operator==(const LinkSpeed&, const LinkSpeed&) = default;
};

/// Links of a topology as messages share them: each carries one message at a time, and is idle only while it has none; the one that has
/// entered the network first goes first. A head goes on as soon as the next link is free (cut through). Ranks of one host do not use links.
/// Where the topology leaves a choice, chance decides for each message; its packets all go the same way, so they stay in order.
///
/// What it leaves out: switches have room for everything, and a message that waits holds up no other.
/// Cost: O(links on the way) for a message; 24 bytes for a link, 8 for a rank.
class SharedLinks final : public coll::Links {
 public:
  /// `places`: the host of each rank.
  SharedLinks(const Topology& topology, const std::vector<Host>& places, const LinkSpeed& of_hosts,
              const LinkSpeed& of_switches, std::uint64_t seed)
      : topology_(topology), places_(places), of_hosts_(of_hosts), of_switches_(of_switches), seed_(seed) {}

  void begin() override;
  void announce(Rank from, Rank to, bool part) override;
  coll::Picoseconds arrival(coll::Picoseconds entered, Rank from, Rank to, std::uint64_t bytes,
                            const coll::LogGP& link) override;

  /// Bytes that each link has carried.
  const std::vector<std::uint64_t>& bytes() const noexcept { return bytes_; }
  /// The sum over all messages of the links on their way.
  std::uint64_t hops() const noexcept { return hops_; }

  /// Of memory, at least.
  static constexpr std::uint64_t kBytesOfLink = 24;
  static constexpr std::uint64_t kBytesOfRank = sizeof(std::uint64_t);

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  const Topology& topology_;
  const std::vector<Host>& places_;
  LinkSpeed of_hosts_;
  LinkSpeed of_switches_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> next_of_;  ///< [rank] the message of which its next packet is; kNone: a new one
  std::uint64_t messages_ = 0;
  std::uint64_t hops_ = 0;
  LinkTimes times_{0};
  std::vector<std::uint64_t> bytes_;
  // The ways of messages that are announced, in a ring.
  std::array<Route, kAnnounced> routes_;
  std::size_t first_ = 0;
  std::size_t announced_ = 0;
};

}  // namespace aqueduct::sim
