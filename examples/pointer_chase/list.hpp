#pragma once

#include <aqueduct/aqueduct.hpp>

#include <cstdint>

namespace pointer_chase {

/// Names a node in 8 bytes, so that it travels as a value. A node is just the link to the next one.
struct Link {
  aqueduct::Rank rank = 0;
  std::uint32_t index = 0;  // on that rank
  friend bool operator==(const Link&, const Link&) = default;
};
static_assert(sizeof(Link) == 8);

/// All nodes of all ranks, in one ring of random order.
class List {
 public:
  /// Collective: rank 0 draws the order and writes the links; they are in place on return.
  List(aqueduct::Endpoint& ep, std::uint32_t nodes_per_rank, std::uint64_t seed);

  std::uint64_t nodes() const { return nodes_; }
  /// Nodes are numbered consecutively, rank by rank.
  Link link_to(std::uint64_t number) const {
    return {static_cast<aqueduct::Rank>(number / per_rank_), static_cast<std::uint32_t>(number % per_rank_)};
  }
  std::uint64_t number_of(const Link& link) const {
    return std::uint64_t{link.rank} * per_rank_ + link.index;
  }
  aqueduct::GlobalPtr<Link> node(const Link& link) const { return segment_.at(link.rank, link.index); }

 private:
  std::uint64_t per_rank_;
  std::uint64_t nodes_;
  aqueduct::SegmentOf<Link> segment_;
};

}  // namespace pointer_chase
