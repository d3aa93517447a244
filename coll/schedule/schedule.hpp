#pragma once

#include "coll/schedule/algorithm.hpp"
#include "coll/schedule/announced.hpp"
#include "coll/schedule/passes.hpp"

#include <cstdint>
#include <optional>

namespace aqueduct::coll {

/// The steps of one member: those of an algorithm, and around them the passes that Sync::all needs. Whoever runs, checks
/// or simulates an operation asks here.
///
/// A broadcast or scatter moves nothing before its root does, so the pass at its beginning ends at the root; the pass at
/// the end of a reduction or gather begins at the root. All others are of everybody. Sync::none and Sync::mine need no
/// pass: an algorithm with direct access asks its peers itself if the mode is `mine`.
///
/// A direct algorithm on members that do not know where outputs are is made into one in which they announce them
/// (announced.hpp).
///
/// Counters: first the algorithm's, then those of the passes, then two that tie lanes together.
class Schedule {
 public:
  Schedule(const Algorithm& algorithm, const Shape& shape, Rank position) noexcept;

  std::uint32_t lanes() const noexcept { return lanes_; }
  std::uint32_t length(std::uint32_t lane) const noexcept;
  Step step(std::uint32_t lane, std::uint32_t index) const noexcept;
  const Shape& shape() const noexcept { return shape_; }
  Rank position() const noexcept { return position_; }

  static Needs needs(const Algorithm& algorithm, const Shape& shape) noexcept;
  static Cost cost(const Algorithm& algorithm, const Shape& shape) noexcept;
  /// Null if the algorithm can do this; otherwise the reason why not.
  static const char* refusal(const Algorithm& algorithm, const Shape& shape) noexcept;

 private:
  std::uint32_t own_length(std::uint32_t lane) const noexcept;
  Step own_step(std::uint32_t lane, std::uint32_t index) const noexcept;

  const Algorithm& algorithm_;
  Shape shape_;
  Rank position_;
  std::optional<Announced> announced_;
  std::uint32_t lanes_;
  Pass before_;
  Pass after_;
  Counter entered_;   ///< raised after the pass before, for the lanes other than 0
  Counter finished_;  ///< raised by each of these at its end
};

}  // namespace aqueduct::coll
