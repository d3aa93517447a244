#pragma once

#include "coll/schedule/algorithm.hpp"
#include "coll/schedule/announced.hpp"
#include "coll/schedule/passes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace aqueduct::coll {

/// The steps of the members: those of an algorithm, and around them the passes that Sync::all needs. Whoever runs, checks
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
///
/// This is for whoever follows all members; Schedule is the view of one of them.
class TeamSchedule {
 public:
  TeamSchedule(const Algorithm& algorithm, const Shape& shape) noexcept;

  /// How long the parts of a lane are. Whoever asks for many steps of a lane keeps it, which saves computing it for each.
  struct Lengths {
    std::uint32_t before = 0;
    std::uint32_t own = 0;
    std::uint32_t after = 0;
    std::uint32_t all = 0;  ///< with the steps that tie lanes together
    bool tied = false;      ///< the member has several lanes
  };
  std::uint32_t lanes(Rank position) const noexcept { return algorithm_.lanes(shape_, position); }
  Lengths lengths(Rank position, std::uint32_t lane) const noexcept;
  Step step(Rank position, std::uint32_t lane, std::uint32_t index, const Lengths& of_lane) const noexcept;
  /// brief_of(step(...)), in less time.
  Brief brief(Rank position, std::uint32_t lane, std::uint32_t index, const Lengths& of_lane) const noexcept {
    const std::uint32_t own = index - of_lane.before;
    // Most are those of the algorithm, of a member with one lane.
    if (of_lane.tied || own >= of_lane.own) return found_brief(position, lane, index, of_lane);
    Brief step = own_brief(position, lane, own);
    if (step.kind == Step::Kind::tell && of_lane.after > 0) step.kind = Step::Kind::nothing;
    return step;
  }
  /// Whether the counter ties the lanes of a member together, so that nobody else raises it.
  bool ties(Counter counter) const noexcept { return counter == entered_ || counter == finished_; }
  const Shape& shape() const noexcept { return shape_; }
  const Pass& before() const noexcept { return before_; }
  const Pass& after() const noexcept { return after_; }

  /// How many notes (Noted) the algorithm has for all members; 0 if it has none.
  static std::size_t notes(const Algorithm& algorithm, const Shape& shape) noexcept;
  /// Writes them, and computes steps by them from then on. They must outlive this.
  void take_notes(std::span<std::int8_t> notes) noexcept;
  /// The members' views of blocks of different lengths, [member], in place of the one of the shape. They must outlive this.
  void take_blocks(std::span<const MemberBlocks> views) noexcept {
    views_ = views;
    if (!views.empty()) own_brief_ = nullptr;
  }

 private:
  std::uint32_t own_length(Rank position, std::uint32_t lane) const noexcept;
  Shape seen_by(Rank position) const noexcept;
  template <class Out, class Own>
  Out find(Rank position, std::uint32_t lane, std::uint32_t index, const Lengths& of_lane,
           const Own& own_at) const noexcept;
  Step own_step(Rank position, std::uint32_t lane, std::uint32_t index) const noexcept;
  Brief own_brief(Rank position, std::uint32_t lane, std::uint32_t index) const noexcept {
    return own_brief_ != nullptr ? own_brief_(shape_, position, lane, index)
                                 : slow_brief(position, lane, index);
  }
  Brief slow_brief(Rank position, std::uint32_t lane, std::uint32_t index) const noexcept;
  Brief found_brief(Rank position, std::uint32_t lane, std::uint32_t index,
                    const Lengths& of_lane) const noexcept;

  const Algorithm& algorithm_;
  Shape shape_;
  std::optional<Announced> announced_;
  decltype(Algorithm::brief) own_brief_ = nullptr;  ///< if it says what own_step does
  std::span<const std::int8_t> notes_;
  std::span<const MemberBlocks> views_;
  Pass before_;
  Pass after_;
  Counter entered_;   ///< raised after the pass before, for the lanes other than 0
  Counter finished_;  ///< raised by each of these at its end
};

class Schedule {
 public:
  using Lengths = TeamSchedule::Lengths;

  Schedule(const Algorithm& algorithm, const Shape& shape, Rank position) noexcept
      : team_(algorithm, shape), position_(position), lanes_(team_.lanes(position)) {}

  std::uint32_t lanes() const noexcept { return lanes_; }
  std::uint32_t length(std::uint32_t lane) const noexcept { return lengths(lane).all; }
  Lengths lengths(std::uint32_t lane) const noexcept { return team_.lengths(position_, lane); }
  Step step(std::uint32_t lane, std::uint32_t index) const noexcept {
    return step(lane, index, lengths(lane));
  }
  Step step(std::uint32_t lane, std::uint32_t index, const Lengths& of_lane) const noexcept {
    return team_.step(position_, lane, index, of_lane);
  }
  const Shape& shape() const noexcept { return team_.shape(); }
  Rank position() const noexcept { return position_; }

  static Needs needs(const Algorithm& algorithm, const Shape& shape) noexcept;
  static Cost cost(const Algorithm& algorithm, const Shape& shape) noexcept;
  /// Null if the algorithm can do this; otherwise the reason why not.
  static const char* refusal(const Algorithm& algorithm, const Shape& shape) noexcept;

 private:
  TeamSchedule team_;
  Rank position_;
  std::uint32_t lanes_;
};

}  // namespace aqueduct::coll
