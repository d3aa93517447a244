#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::topology {
class Placement;
}

namespace aqueduct::coll {

struct Shape;

/// The members of a team by domains of memory, for operations that keep to these. Of the levels of the topology it has the
/// narrowest at which several members share a domain.
///
/// A block is cut into as many tiles as the largest domain has members. In each domain one member has the care of a tile. Of
/// operations in which each member has a block of its own, it has the care of the blocks of some members of each other domain.
struct BoardDomains {
  std::uint32_t count = 0;           ///< of domains; 0: the operation does not go by them
  std::uint32_t tiles = 0;           ///< the members of the largest
  std::uint32_t mine = 0;            ///< the domain of this member
  std::uint32_t index = 0;           ///< its place there
  std::vector<Rank> order;           ///< the members; those of a domain side by side, in team order
  std::vector<std::uint32_t> first;  ///< [domain] where its members begin in `order`; and the end
  /// The other domains' members with whom this one shares a tile. They share it with this one.
  std::vector<Rank> partners;
  /// [domain] of the blocks that a member there has the care of, which one is this member's; of other domains than its own.
  std::vector<std::uint32_t> place;

  std::uint32_t size(std::uint32_t domain) const noexcept { return first[domain + 1] - first[domain]; }
  std::span<const Rank> members(std::uint32_t domain) const noexcept {
    return std::span(order).subspan(first[domain], size(domain));
  }
  std::span<const Rank> mates() const noexcept { return members(mine); }
  Rank owner(std::uint32_t domain, std::uint64_t tile) const noexcept {
    return order[first[domain] + tile % size(domain)];
  }
  /// The most tiles that a member has the care of.
  std::uint32_t most_tiles() const noexcept;
  /// The most blocks of other domains that a member has the care of.
  std::uint32_t most_blocks() const noexcept;
  /// Calls `act` with each member of another domain whose block this one has the care of. Members of different domains begin
  /// with different ones, so that no border is crossed by all at once.
  template <class Act>
  void each_in_care(const Act& act) const {
    for (std::uint32_t i = 1; i < count; ++i) {
      const std::uint32_t domain = (mine + i) % count;
      for (std::uint32_t at = index; at < size(domain); at += size(mine)) act(members(domain)[at]);
    }
  }
};

/// Whether an operation may go by domains: there are some, and partial results may be combined in their order.
bool may_go_by_domains(const topology::Placement* placement, const Shape& shape) noexcept;

/// Requires: the placement has domains. May throw std::bad_alloc.
BoardDomains domains_of(const topology::Placement& placement, Rank me);

/// A member's place in a tree whose edges cross the borders of domains as seldom as can be, at every level of the topology: at each
/// of them a k-nomial tree of the domains' first members. The root is the first member of its domains.
struct TreePlace {
  Rank parent = kNoRank;       ///< kNoRank: the root
  std::vector<Rank> children;  ///< those of the nearest level first; in the order of their subtrees
};
/// May throw std::bad_alloc.
TreePlace place_in_tree(const topology::Placement& placement, Rank me, Rank root, std::uint32_t radix);

/// A member's part in a dissemination. As many members of each domain as its smallest power of two take part, of as many domains
/// as theirs, and exchange what they have in rounds: first inside domains, then across. Each of the others gives what it has to
/// one that takes part, and gets the result from it.
struct RoundsPlace {
  std::vector<Rank> partners;  ///< [round]; empty: it does not take part
  Rank helper = kNoRank;       ///< who takes part for it
  std::vector<Rank> helped;    ///< for whom it takes part
  std::uint32_t rounds = 0;    ///< the same on all members
};
/// `placement`: null if no domains are known. May throw std::bad_alloc.
RoundsPlace place_in_rounds(const topology::Placement* placement, Rank ranks, Rank me);

}  // namespace aqueduct::coll
