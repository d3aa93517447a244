// What a member does with the news that another one has made another call.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <string_view>

namespace aqueduct::coll {

namespace {

// Chosen: with the call of which a counter tells, they fit among those that a member remembers (kMostHeard).
constexpr int kMostSilentTold = 6;

}  // namespace

/// Does what the agreement asks for: tells the other members, ends what cannot end otherwise.
void TeamEngine::settle() noexcept {
  if (const auto news = agreement_.take_news()) layer_.tell(*this, news->number, news->call);
  if (!agreement_.broken()) [[likely]]
    return;
  if (agreement_.in_doubt() && !broken_.ok()) return;
  if (broken_from_ > agreement_.broken_at()) {
    const std::string_view why = agreement_.why();
    state_.log.error("{}", !why.empty() ? why : "a team is broken, and there is no memory to say why");
  }
  fail(agreement_.status(), agreement_.broken_at());
  layer_.look_busy(*this);
}

void TeamEngine::refuse(const CallDescription& call, Status why) noexcept {
  if (!broken_.ok() || ranks_ == 1) return;
  static_cast<void>(note(call));
  if (why != no_memory_here()) return;
  agreement_.lacked_memory();
  if (agreement_.in_doubt()) known_ = LatestCalls::kNoneYet.data();  // so that no call overlooks the doubt
  settle();
}

void TeamEngine::end_doubt() noexcept {
  if (!in_doubt()) return;
  agreement_.end_doubt();
  // Members that have heard of all refusals go on, and must not wait for this one.
  layer_.tell(*this, calls() + 1, relayed_no_memory(state_.rank));
}

/// All members have refused the same call for want of memory: it has not happened.
void TeamEngine::be_whole_again() noexcept {
  broken_ = {};
  first_broken_ = broken_from_ = kNotBroken;
  if (latest_ != nullptr) known_ = latest_->known.data();
  state_.log.info("call {} of a team of {} ranks: no member has had memory for it, and the team goes on",
                  calls(), ranks_);
}

void TeamEngine::heard(Rank from, std::uint64_t number, const CallDescription& theirs) noexcept {
  const bool was_in_doubt = in_doubt();
  const Verdict verdict = agreement_.heard(from, number, theirs);
  if (was_in_doubt && !agreement_.broken()) be_whole_again();
  quiet_ = false;
  see_short_way();
  if (verdict == Verdict::clearer) state_.log.error("{}", agreement_.why());
  settle();
  if (verdict == Verdict::broken || verdict == Verdict::clearer) tell_silent_before(number);
}

void TeamEngine::heard_last(Rank from, std::uint32_t calls, const CallDescription& instead) noexcept {
  if (!broken_.ok() && !in_doubt()) return;
  // How far this member is ahead: -2^30 to 2^30. It may yet make the call that the other one will not make.
  const auto mine = static_cast<std::uint32_t>(agreement_.made());
  const std::int64_t ahead =
      static_cast<std::int64_t>((mine - calls + 0x4000'0000) & 0x7fff'ffff) - 0x4000'0000;
  heard(from, agreement_.made() + 1 - static_cast<std::uint64_t>(ahead), instead);
}

void TeamEngine::saw_other(std::uint64_t number) noexcept {
  if (agreement_.broken() && agreement_.broken_at() <= number) return;
  static_cast<void>(agreement_.saw_other(number, kNoRank));
  settle();
  tell_silent_before(number);
}

// A member that has made another call where this one has bound or ended a plan is behind in its numbers from there on. It
// waits in a call for which this member has no counter, so only the news of the silent call ends it. That is so however this
// member learns that calls differ.
void TeamEngine::tell_silent_before(std::uint64_t number) noexcept {
  for (int told = 0; told < kMostSilentTold; ++told) {
    const auto news = agreement_.silent_before(number);
    if (!news) return;
    layer_.tell(*this, news->number, news->call);
    number = news->number;
  }
}

}  // namespace aqueduct::coll
