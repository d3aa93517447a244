#pragma once

#include "coll/model/processors.hpp"
#include "coll/model/replay_state.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// Replays whatever members do: each post, copy and reduction is an event, and looks are as conventions 7 to 11 of loggp.hpp say.
class ReplayStepped {
 public:
  explicit ReplayStepped(ReplayState& state)
      : state_(state),
        looking_(state.ranks),
        calls_(state.ranks * state.calls.size()),
        processors_(state.machine, state.ranks) {}

  /// Whether members run ahead in passes although others may get from them meanwhile (replay_passes.cpp).
  enum class Ahead : std::uint8_t { hopes, knows };
  /// False: hope was wrong. Then the replay must begin once more, with knowledge.
  bool run(Ahead ahead);

 private:
  static constexpr std::uint32_t kBeginLook = 0xffffffff;
  static constexpr std::uint16_t kGetInPieces = 0xffff;
  using Lane = ReplayState::Lane;
  using Kind = ReplayEvent::Kind;

  /// A put or get that is over, of which the member learns when its next look begins.
  struct Due {
    Counter done;
    std::uint8_t call;
    std::int32_t pieces;  ///< index of a put in pieces, or -1
  };
  /// Those of a member, in their order. Seldom more than two, so these have no memory of their own; one that gets from all
  /// has many.
  class Dues {
   public:
    bool empty() const noexcept { return count_ == 0; }
    void add(const Due& due) {
      if (count_ < few_.size())
        few_[count_] = due;
      else
        more_.push_back(due);
      ++count_;
    }
    Due take_first() {
      const Due first = few_[0];
      few_[0] = few_[1];
      if (count_-- > few_.size()) {
        few_[1] = more_[more_.size() - count_ + 1];
        if (count_ == few_.size()) more_.clear();
      }
      return first;
    }

   private:
    std::uint32_t count_ = 0;
    std::array<Due, 2> few_{};
    std::vector<Due> more_;
  };
  /// A member's call.
  struct OfCall {
    std::uint32_t untold = 0;
    std::uint32_t own = 0;  ///< puts and gets that are not over
    bool begun = false;
    bool ended = false;
  };
  /// What a member's processor is at. What each look needs is in the first line of a cache.
  struct alignas(64) Looking {
    bool looking = false;
    bool moved = false;           ///< this look has executed a step
    bool raised = false;          ///< a step has raised an own counter at once
    bool posting = false;         ///< busy with a post, a copy, a reduction, or computing
    bool receiving = false;       ///< busy with what has reached its port
    bool following = false;       ///< the post is `signal`
    std::uint8_t call = 0;        ///< whose step it executes
    std::uint8_t computing = 0;   ///< the call that begins after computing
    std::uint8_t unfinished = 0;  ///< calls
    std::uint32_t lane = 0;
    std::uint32_t piece = 0;       ///< of a put in pieces: the next
    std::uint32_t arrived = 0;     ///< since the look before, where ranks share processors
    std::uint32_t unanswered = 0;  ///< gets of others that its port has yet to answer, if these are counted
    std::uint32_t ahead_until =
        0;  ///< the end of a pass in which the member runs ahead, in steps of lane 0; 0: it does not
    Picoseconds ahead_now = 0;     ///< its time there
    Picoseconds ahead_handed = 0;  ///< when it hands over the last signal so far
    Dues due;
    Brief signal;  ///< the one that follows a put in pieces
    struct Pieces {
      std::uint32_t left;
      Brief step;
      std::uint8_t call;
    };
    std::vector<Pieces> pieces;
  };
  std::span<OfCall> calls_of(Rank rank) noexcept {
    return std::span(calls_).subspan(rank * state_.calls.size(), state_.calls.size());
  }
  /// What follows in the window from events at the ranks that are being done.
  struct Local {
    ReplayEvent event;
    std::uint64_t number;
  };

  // Events: replay_stepped.cpp.
  void begin_calls(Rank rank);
  void do_together(std::span<ReplayEvent> events);
  void push(const ReplayEvent& event);
  void happen(const ReplayEvent& event);
  void arrive(const ReplayEvent& put);
  void piece_over(const ReplayEvent& event);
  static bool wakes(Looking& looking) noexcept;
  void wake(Rank rank, Picoseconds now);
  void wake_with_processor(Rank rank, Picoseconds now);
  template <class Each>
  void add(Rank rank, std::uint32_t call, Counter number, std::uint32_t amount, Picoseconds at,
           const Each& each);
  void raise_own(Rank rank, std::uint32_t call, Counter number, Picoseconds now);

  // Looks: replay_looks.cpp. They return false if the processor is busy from then on.
  void go_on(Rank rank, Picoseconds now);
  void rest(Rank rank, Looking& looking, Picoseconds now);
  bool would_do_something(Rank rank, const Looking& looking, Picoseconds now) noexcept;
  bool begin_look(Rank rank, Looking& looking, Picoseconds now);
  bool receive(Rank rank, Looking& looking, Picoseconds now);
  bool look(Rank rank, Looking& looking, Picoseconds now);
  bool execute(Rank rank, Looking& looking, Lane& lane, Picoseconds now);
  bool work_here(Rank rank, Looking& looking, const Brief& step, Picoseconds now);
  bool end_calls(Rank rank, Looking& looking, Picoseconds now);
  void over_at_once(Rank rank, Looking& looking, Lane& lane, Picoseconds now);
  static void tell(Lane& lane, OfCall& call) noexcept;

  // Posts: replay_posts.cpp. Likewise.
  bool begin_post(Rank rank, Looking& looking, const Brief& step, Picoseconds now);
  bool end_post(Rank rank, Looking& looking, Picoseconds now);
  bool reads(Rank rank, const Brief& step) const noexcept;
  bool begin_read(Rank rank, Looking& looking, const Brief& step, Picoseconds now);
  void hand_over_put(Rank rank, Looking& looking, const Brief& step, Picoseconds now);
  void hand_over_piece(Rank rank, Looking& looking, const Brief& step, Picoseconds now);
  bool follow(Rank rank, Looking& looking, std::int32_t pieces, std::uint32_t call, Picoseconds now);

  // Passes: replay_passes.cpp.
  bool may_run_ahead() const noexcept;
  void count_gets() noexcept;
  void note_get() noexcept;
  void note_answer(Looking& owner, Picoseconds handed_over) noexcept;
  bool do_ahead(std::span<ReplayEvent> events);
  bool begin_with_pass(Rank rank);
  bool end_with_pass(Rank rank, Looking& looking, const Lane& lane, Picoseconds now);
  void go_ahead(Rank rank, Looking& looking, Picoseconds now);

  ReplayState& state_;
  LargeVector<Looking> looking_;  // [rank]
  std::vector<OfCall> calls_;     // [rank][call]
  Processors processors_;
  std::uint64_t window_ = 0;
  bool in_window_ = false;
  std::vector<Local> local_;  ///< a heap
  std::uint64_t numbers_ = 0;
  bool runs_ahead_ = false;   ///< members that come to a pass
  bool hopes_ = false;        ///< that nobody gets from members in the pass before the operation
  bool counts_gets_ = false;  ///< so Looking::unanswered is right
  bool fits_ = true;

 public:
  static constexpr std::uint64_t kBytesOfMember = sizeof(Looking);
  static constexpr std::uint64_t kBytesOfCall = sizeof(OfCall);  ///< of each member
};

}  // namespace aqueduct::coll
