#pragma once

#include "coll/model/replay_arrivals.hpp"
#include "coll/model/replay_state.hpp"

#include <cstdint>
#include <span>

namespace aqueduct::coll {

/// Replays one call of members that only put, of which some have several lanes: as ReplayAhead, without events but arrivals.
///
/// A look takes the lanes in order, so it must know for each whether what the lane waits for has arrived by then. That is known
/// for times before the end of the window, and for times at which the port still takes the last message that it has begun
/// with. If a look comes to a lane and does not know, it stands there: *in doubt*. Mostly it is the next arrival that ends the
/// doubt. If another lane could go on, so that the look has more to do at that time, an event ends it.
class ReplayLanes {
 public:
  explicit ReplayLanes(ReplayState& state);

  /// Whether a member that has this step cannot be replayed here.
  static bool must_step(const Brief& step) noexcept;
  /// False: a member does something else. Then the replay must begin once more, stepped (ReplayStepped).
  bool run();

 private:
  struct alignas(64) Member : ReplayedProcessor {
    Picoseconds began = 0;  ///< the look
    Picoseconds drained = 0;
    std::uint32_t lane = 0;  ///< which the look has come to
    std::uint8_t untold = 0;
    bool looking = false;  ///< in doubt
    bool moved = false;    ///< this look has executed a step
    bool raised = false;   ///< a step has raised an own counter at once
    bool asked = false;    ///< an event will end the doubt
    bool alone = false;    ///< in doubt, and no arrival lets another lane go on
  };

  void take(const ReplayEvent& head);
  void go_on(Rank rank, Picoseconds sure);
  bool go_on_alone(Rank rank, Member& member);
  static void begin_look(Member& member, Picoseconds at) noexcept;
  bool look(Rank rank, Member& member, Picoseconds sure);
  void execute(Rank rank, Member& member, ReplayState::Lane& lane);
  void post(Rank rank, Member& member, const Brief& step);
  void end_work(Rank rank, Member& member, const Brief& step);
  void doubt(Rank rank, Member& member);
  Picoseconds next_look(Rank rank) noexcept;
  enum class Other : std::uint8_t { ready, waits, tied };
  Other state_of(Rank rank, std::uint32_t number) noexcept;
  static void tell(Member& member, ReplayState::Lane& lane) noexcept;
  static void idle(Member& member, Picoseconds next) noexcept;

  ReplayState& state_;
  LargeVector<Member> members_;
  bool fits_ = true;

 public:
  static constexpr std::uint64_t kBytesOfMember = sizeof(Member);
};

}  // namespace aqueduct::coll
