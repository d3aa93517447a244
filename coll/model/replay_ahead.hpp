#pragma once

#include "coll/model/replay_arrivals.hpp"
#include "coll/model/replay_state.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// Replays one call of members that have one lane and only put. They need no events of their own: an arrival that completes
/// what a lane waits for runs the lane ahead of the window, since nothing that comes later can change it.
class ReplayAhead {
 public:
  explicit ReplayAhead(ReplayState& state);

  /// Whether a member that has this step cannot be replayed here.
  static bool must_step(const Brief& step) noexcept { return step.kind == Step::Kind::get; }
  /// False: a member does something else. Then the replay must begin once more, stepped (ReplayStepped).
  bool run();

 private:
  struct Member : ReplayedProcessor {
    Picoseconds told = kNever;
  };

  void arrive(const ReplayEvent& head);
  void go_on(Rank rank);
  bool execute(Rank rank, Member& member, const Brief& step);
  void post(Rank rank, Member& member, const Brief& step);
  static void end_look(Member& member, Picoseconds next) noexcept;

  ReplayState& state_;
  LargeVector<Member> members_;
  bool fits_ = true;

 public:
  static constexpr std::uint64_t kBytesOfMember = sizeof(Member);
};

}  // namespace aqueduct::coll
