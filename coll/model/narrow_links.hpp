#pragma once

#include "coll/model/replay.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::coll {

/// A guess at a network whose links messages share: hosts that are next to each other form groups, as many groups as a group has
/// hosts, and one link, as fast as a port, goes from each group to each other one. Within a group nothing is shared. Dragonflies
/// with minimal routes are so; tori and fat trees that were built too thin are wider, but shifts over a long distance cost more there too.
///
/// A link carries one message at a time, in the order in which they enter the network.
/// Cost: O(1) for a message; 8 bytes for each pair of groups.
class NarrowLinks final : public Links {
 public:
  /// `block`: so many ranks that follow one another share a host.
  NarrowLinks(Rank ranks, Rank block) noexcept;

  void begin() override;
  Picoseconds arrival(Picoseconds entered, Rank from, Rank to, std::uint64_t bytes,
                      const LogGP& link) override;

  /// The same where all ranks, each with a host of its own, send at once to the same distance: when the last of these messages
  /// reaches its port. `turns`: the peer is mine ^ distance; otherwise mine + distance.
  Picoseconds last_arrival(Picoseconds entered, Rank distance, bool turns, std::uint64_t bytes,
                           const LogGP& link);

 private:
  /// How many of these messages go over one link.
  std::uint64_t sharing(Rank distance, bool turns) const noexcept;

  Rank ranks_;
  Rank of_group_;  ///< ranks
  Rank groups_;
  std::vector<Picoseconds> free_;  ///< when each link is free
};

}  // namespace aqueduct::coll
