#pragma once

#include <aqueduct/rank.hpp>

#include "core/endpoint_state.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::coll {

/// The end of a job in which a rank was lost, so that the barrier of Job::finish cannot tell when all are through.
///
/// A rank that leaves counts as lost, and a loss ends the operations that others still have with it. So a rank that is in
/// Job::finish says so to each other one, and stays until it has heard the same of all that are not lost, but not for ever.
///
/// Cost: a short message for each other rank.
class Farewells {
 public:
  explicit Farewells(core::EndpointState& state);
  Farewells(const Farewells&) = delete;
  Farewells& operator=(const Farewells&) = delete;

  /// Says farewell to those to whom it has not been said, as far as there is room. Returns whether that is done, and all
  /// others have said theirs or are lost.
  bool over() noexcept;
  /// Whether that rank has said its farewell.
  bool has_said(Rank rank) const noexcept { return heard_[rank]; }
  /// Whether that rank has said that it leaves, in good order.
  bool has_left(Rank rank) const noexcept { return gone_[rank]; }
  /// This rank stays no longer. Tells those who have not said theirs, as far as there is room: they lose this rank. Returns
  /// whether all are told.
  bool left() noexcept;
  /// Like `left`, by a rank that has passed the first barrier of Job::finish and not the second one. Tells only those to whom
  /// its arrivals there go, and who have said theirs: they alone may wait for this rank. This
  /// makes no connections, since others may be leaving.
  bool left_last_barrier() noexcept;

 private:
  /// Whom this rank tells that it is in Job::finish, or that it leaves.
  enum class Told : std::uint8_t { all, those_not_heard, successors };
  bool all_told(Told whom) noexcept;
  bool is_told(Rank rank, Told whom) const noexcept;

  core::EndpointState& state_;
  std::vector<bool> heard_;  ///< [rank]; itself too
  std::vector<bool> told_;   ///< [rank]
  std::vector<bool> gone_;   ///< [rank] it has said that it leaves
  bool leaves_ = false;      ///< what is told is that this rank leaves
};

}  // namespace aqueduct::coll
