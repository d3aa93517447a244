#pragma once

#include <aqueduct/aqueduct.hpp>

#include "common/check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gups {

/// A table of 2^n words of 64 bits, distributed over the ranks in blocks; initially each word holds its own index.
class Table {
 public:
  /// Collective.
  Table(aqueduct::Endpoint& ep, unsigned log2_words)
      : words_(std::uint64_t{1} << log2_words),
        per_rank_((words_ + ep.ranks() - 1) / ep.ranks()),
        first_(std::min(words_, ep.rank() * per_rank_)),
        segment_(example::need(aqueduct::Segment::create<std::uint64_t>(
                                   ep.world(), std::min(words_, first_ + per_rank_) - first_),
                               "allocate the table")) {
    const auto mine = my_words();
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = first_ + i;
  }

  std::uint64_t words() const { return words_; }
  /// The index of the word that a number updates, and the rank that owns it.
  std::uint64_t index_of(std::uint64_t number) const { return number & (words_ - 1); }
  aqueduct::Rank owner_of(std::uint64_t index) const {
    return static_cast<aqueduct::Rank>(index / per_rank_);
  }
  aqueduct::GlobalPtr<std::uint64_t> at(std::uint64_t index) const {
    const aqueduct::Rank owner = owner_of(index);
    return segment_.at(owner, index - owner * per_rank_);
  }

  /// My own block, as plain memory.
  std::span<std::uint64_t> my_words() const { return segment_.mine(); }
  /// One of my words, by its index in the whole table.
  std::uint64_t& mine(std::uint64_t index) const { return my_words()[index - first_]; }

  /// How many of my words have changed since the start.
  std::uint64_t changed_words() const {
    std::uint64_t changed = 0;
    const auto mine = my_words();
    for (std::size_t i = 0; i < mine.size(); ++i) changed += mine[i] != first_ + i ? 1 : 0;
    return changed;
  }

 private:
  std::uint64_t words_;
  std::uint64_t per_rank_;
  std::uint64_t first_;
  aqueduct::SegmentOf<std::uint64_t> segment_;
};

}  // namespace gups
