// How a blocking call on the board waits where ranks share processors.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "core/backoff.hpp"
#include "core/endpoint_state.hpp"

namespace aqueduct::coll {

namespace {

/// Chosen: some 5 us, in which the ranks of the other processors take their turns. After it, this one gives its processor to
/// whoever wants it.
constexpr std::uint32_t kLooksWhileOthersRun = 400;
/// Chosen: more turns than a call needs while all members make it. Then it becomes one that goes on in progress: messages are not
/// answered before that.
constexpr std::uint32_t kMostTurns = 8;
/// Chosen: so many calls that end in this way make a round of progress. One that becomes an operation makes several itself.
constexpr std::uint64_t kCallsOfAProgress = 8;

}  // namespace

/// For as long as the members that this one waits for run on other processors.
bool TeamEngine::look_while_others_run(BoardOp& op) noexcept {
  for (std::uint32_t looks = 0; looks < kLooksWhileOthersRun; ++looks) {
    if (board_->step(op)) return true;
  }
  return false;
}

// A switch between ranks takes about 1 us, most of what such a call costs. While a rank of this processor has yet to make its call,
// looking is useless: this rank yields. When all of them have made it, yielding is useless: while ranks of this processor switch to
// each other, none of them sees that those of other processors have come. So this rank looks. It makes no progress meanwhile: a
// continuation might begin a call, and the one under way has no record that would keep the order.
bool TeamEngine::take_turns_on_board() noexcept {
  BoardOp& op = layer_.board_op();
  {
    core::Backoff backoff(state_.pacing, state_.clock);
    std::uint32_t turns = 0;
    for (;; ++turns) {
      if (!board_->shares_processor_with_one_behind(op) && look_while_others_run(op)) break;
      if (turns == kMostTurns) return false;
      if (backoff.next(state_.pacing.spins, true) == core::Backoff::Step::sleep) return false;
      if (board_->step(op)) break;
    }
  }
  if (calls() % kCallsOfAProgress == 0) core::progress(state_);
  return true;
}

}  // namespace aqueduct::coll
