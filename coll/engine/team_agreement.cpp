#include "coll/engine/team_agreement.hpp"

#include "coll/engine/call_text.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace aqueduct::coll {
namespace {

// See forgotten_call.
constexpr auto kForgotten = static_cast<std::uint8_t>(ErrorCode::mismatch);

constexpr auto kNoMemory = static_cast<std::uint8_t>(ErrorCode::no_memory);

// A member that has refused its call may have chosen no algorithm.
bool same_call(const CallDescription& a, CallDescription b) noexcept {
  if (a.algorithm == 0 || b.algorithm == 0) b.algorithm = a.algorithm;
  return a == b;
}

/// Whether the calls are the same, except that one of the members has refused its own.
bool are_alike(const CallDescription& a, CallDescription b) noexcept {
  b.refused = a.refused;
  return same_call(a, b);
}

void add_member(CallText& text, Rank rank, const CallDescription& call) noexcept {
  if (call.refused == kForgotten) {
    text.add("rank {} has seen that the members' calls differ", rank);
    return;
  }
  if (is_relayed(call)) {
    text.add("rank {} had no memory for its call, which rank {} has made", call.root, rank);
    return;
  }
  if (call == kFinished) {
    text.add("rank {} is in Job::finish and makes no further call", rank);
    return;
  }
  if (call == kEnded) {
    text.add("rank {} is in Team::end and makes no further call of the team", rank);
    return;
  }
  if (is_set_up(call)) {
    text.add(
        "rank {} is in Team::split, dup, use_scratch, use_tree, or Segment::create or release, of the team",
        rank);
    return;
  }
  text.add("rank {} has {} ", rank, call.refused != 0 ? "refused" : "called");
  add_call(text, call);
  if (call.refused == 0) return;
  text.add(", with ");
  add_refusal(text, call.refused);
}

bool differ_in_algorithm_alone(const CallDescription& a, CallDescription b) noexcept {
  if (a.algorithm == b.algorithm) return false;
  b.algorithm = a.algorithm;
  return a == b;
}

}  // namespace

std::optional<CallNews> TeamAgreement::take_news() noexcept {
  const std::optional<CallNews> news = news_;
  news_.reset();
  return news;
}

void TeamAgreement::forget(const CallDescription& call) noexcept {
  for (std::size_t at = 0; at < kKept; ++at) {
    if (calls_[at] != &call) continue;
    if (memory_ != nullptr) memory_->copies[at] = call;
    calls_[at] = nullptr;
  }
}

bool TeamAgreement::make_memory() noexcept {
  memory_.reset(new (std::nothrow) Memory);
  if (memory_ != nullptr) remembered_from_ = made_ + 1;
  return memory_ != nullptr;
}

Status TeamAgreement::calls_slowly(std::uint64_t number, const CallDescription& call) noexcept {
  news_.reset();
  if (call.refused != 0) {
    remember_refusal(number);
    if (remembers(number)) {
      tell(number);
    } else {
      // The call is at hand, so that others that refuse it alike agree.
      forgotten_told_ = number;
      news_ = CallNews{number, call};
    }
  }
  if (number >= unkept_) {
    // Nobody tells of a call without need: the sender's was another one, or was refused.
    if (call.refused == 0) {
      if (breaks(number, unkept_from_, nullptr, &call) == Verdict::broken && unkept_lacking_ != kNoRank) {
        code_ = ErrorCode::no_memory;
        culprit_ = unkept_lacking_;
      }
      tell(number);
    }
    unkept_ = kNone;
  }
  // compare() sets news_ only if this member has not told of the call yet.
  std::size_t kept = 0;
  const std::size_t count = heard_count_;
  heard_count_ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Heard one = memory_->heard[i];
    if (one.number > number)
      memory_->heard[kept++] = one;
    else
      static_cast<void>(compare(one.from, one.number, one.call));
  }
  heard_count_ = kept;
  return status();
}

Verdict TeamAgreement::heard(Rank from, std::uint64_t number, const CallDescription& theirs) noexcept {
  news_.reset();
  if (number == 0) return broken() ? Verdict::known : Verdict::agrees;  // no member sends this
  if (theirs.refused == kNoMemory && !is_relayed(theirs)) count_lacking(number);
  const Verdict verdict = number > made_ ? remember({number, from, theirs}) : compare(from, number, theirs);
  if (in_doubt_ && all_lack(broken_at_)) {
    in_doubt_ = false;
    broken_at_ = 0;
    code_ = ErrorCode::mismatch;
    culprit_ = kNoRank;
    why_.clear();
  }
  return verdict;
}

/// Another member had no memory for this call, which each tells once. Counts those of one call: the next one that this member makes,
/// or the one of which it is in doubt. A member that is in doubt makes no further call, so this is the least one that counts.
void TeamAgreement::count_lacking(std::uint64_t number) noexcept {
  const bool counts = lacking_number_ > made_ || (in_doubt_ && lacking_number_ == made_);
  if (number < made_ || (counts && lacking_number_ < number)) return;
  if (std::exchange(lacking_number_, number) != number) lacking_count_ = 0;
  ++lacking_count_;
}

bool TeamAgreement::differ(const CallDescription& mine, const CallDescription& theirs) noexcept {
  return mine.refused == 0 && theirs.refused == 0 && !same_call(mine, theirs);
}

Status TeamAgreement::saw_other(std::uint64_t number, Rank from) noexcept {
  news_.reset();
  if (remembers(number)) {
    static_cast<void>(breaks(number, from, nullptr, &own(number)));
    tell(number);
  } else {
    static_cast<void>(breaks(number, from, nullptr, nullptr));
    tell_forgotten(number);
  }
  return status();
}

void TeamAgreement::lacked_memory() noexcept {
  if (broken() || all_lack(made_)) return;
  in_doubt_ = true;
  CallText text;
  text.add(
      "call {} of the team: rank {} has no memory for it, which breaks the team unless all members lack it",
      made_, self_);
  try {
    why_.assign(text.view());
  } catch (const std::bad_alloc&) {
    why_.clear();
  }
  code_ = ErrorCode::no_memory;
  culprit_ = self_;
  broken_at_ = made_;
}

std::optional<CallNews> TeamAgreement::silent_before(std::uint64_t number) noexcept {
  if (number <= 1 || !remembers(number - 1)) return std::nullopt;
  const CallDescription& call = own(number - 1);
  if (!is_silent(call) || call.refused != 0 || is_told(number - 1)) return std::nullopt;
  set_told(number - 1);
  return CallNews{number - 1, call};
}

// Requires: this member has made the call.
Verdict TeamAgreement::compare(Rank from, std::uint64_t number, const CallDescription& theirs) noexcept {
  if (!remembers(number)) return compare_with_forgotten(from, number, theirs);
  const CallDescription& mine = own(number);
  const bool same = theirs.refused != kForgotten && same_call(mine, theirs);
  // Silent calls are told though nothing is known to be wrong with them (silent_before).
  if (same && (theirs.refused != 0 || is_silent(theirs))) return Verdict::agrees;
  const Verdict verdict = breaks(number, from, &theirs, &mine);
  if (same)
    set_told(number);  // by the sender, whose call is the same
  else
    tell(number);
  return verdict;
}

Verdict TeamAgreement::compare_with_forgotten(Rank from, std::uint64_t number,
                                              const CallDescription& theirs) noexcept {
  const bool refused = theirs.refused != 0 && theirs.refused != kForgotten && !is_relayed(theirs);
  // The same refusal, most likely. The stall report compares the calls if it was not.
  if (refused && past(number) != Past::called) return Verdict::agrees;
  const Verdict verdict = breaks(number, from, &theirs, nullptr);
  // A member that has refused must learn that this one has not. And one that waits in this call may ask about it when the others
  // have given theirs up and forgotten them, too.
  if (refused || verdict == Verdict::broken) tell_forgotten(number);
  return verdict;
}

// Keeps those with the least numbers, in the order in which they came.
Verdict TeamAgreement::remember(const Heard& heard) noexcept {
  if (!has_memory()) {
    if (heard.number < unkept_) {
      unkept_ = heard.number;
      unkept_from_ = heard.from;
      unkept_lacking_ = without_memory(heard.from, &heard.call, nullptr);
    }
    return Verdict::remembered;
  }
  const auto begin = memory_->heard.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(heard_count_);
  if (std::any_of(begin, end,
                  [&](const Heard& one) { return one.number == heard.number && one.call == heard.call; }))
    return Verdict::remembered;
  if (heard_count_ == kMostHeard) {
    const auto last =
        std::max_element(begin, end, [](const Heard& a, const Heard& b) { return a.number < b.number; });
    if (last->number <= heard.number) return Verdict::remembered;
    std::move(last + 1, end, last);
    --heard_count_;
  }
  memory_->heard[heard_count_++] = heard;
  return Verdict::remembered;
}

void TeamAgreement::remember_refusal(std::uint64_t number) noexcept {
  if (memory_ == nullptr) {
    refused_lost_ = true;
    return;
  }
  if (refused_count_ != 0 && memory_->refused[refused_count_ - 1].last + 1 == number) {
    memory_->refused[refused_count_ - 1].last = number;
    return;
  }
  if (refused_count_ == kMostRefused) {
    std::move(memory_->refused.begin() + 1, memory_->refused.end(), memory_->refused.begin());
    --refused_count_;
    refused_lost_ = true;
  }
  memory_->refused[refused_count_++] = {number, number};
}

TeamAgreement::Past TeamAgreement::past(std::uint64_t number) const noexcept {
  for (std::size_t i = refused_count_; i-- != 0;) {
    if (number > memory_->refused[i].last) return Past::called;
    if (number >= memory_->refused[i].first) return Past::refused;
  }
  return refused_lost_ ? Past::unknown : Past::called;
}

void TeamAgreement::tell(std::uint64_t number) noexcept {
  if (!remembers(number)) return tell_forgotten(number);
  if (is_told(number)) return;
  set_told(number);
  const CallDescription& call = own(number);
  const bool relays = code_ == ErrorCode::no_memory && broken_at_ == number && call.refused == 0;
  news_ = CallNews{number, relays ? relayed_no_memory(culprit_) : call};
}

// Of a call that this member does not remember: that the members' calls differ there.
void TeamAgreement::tell_forgotten(std::uint64_t number) noexcept {
  if (forgotten_told_ == number) return;
  forgotten_told_ = number;
  const bool relays = code_ == ErrorCode::no_memory && broken_at_ == number;
  news_ = CallNews{number, relays ? relayed_no_memory(culprit_) : forgotten_call()};
}

// The member that had no memory for a call that is the same otherwise; kNoRank: the calls differ for another reason.
Rank TeamAgreement::without_memory(Rank from, const CallDescription* theirs,
                                   const CallDescription* own) const noexcept {
  if (theirs != nullptr && is_relayed(*theirs)) return theirs->root;
  if (theirs != nullptr && own != nullptr && !are_alike(*own, *theirs)) return kNoRank;
  if (theirs != nullptr && theirs->refused == kNoMemory) return from;
  return theirs != nullptr && own != nullptr && own->refused == kNoMemory ? self_ : kNoRank;
}

// `theirs`, `own`: null if not known. The least number is where the disagreement began, so it decides over the text.
Verdict TeamAgreement::breaks(std::uint64_t number, Rank from, const CallDescription* theirs,
                              const CallDescription* own) noexcept {
  in_doubt_ = false;
  const bool same = theirs != nullptr && own != nullptr && same_call(*own, *theirs);
  const bool both = theirs != nullptr && own != nullptr && !same && theirs->refused != kForgotten;
  const bool earlier = !broken() || number < broken_at_;
  if (!earlier && (number != broken_at_ || names_both_ || !both)) return Verdict::known;
  CallText text;
  text.add("call {} of the team: ", number);
  if (theirs != nullptr) {
    add_member(text, from, *theirs);
    text.add("; ");
  }
  if (same) {
    text.add("so has rank {}; a member has made another call", self_);
  } else {
    if (own != nullptr)
      add_member(text, self_, *own);
    else if (made_ - number >= kKept)
      text.add("rank {} does not remember its own call: it has made more than {} since", self_, kKept);
    else
      text.add("rank {} does not remember its own call, for which it had no memory", self_);
    if (theirs == nullptr) {
      if (from != kNoRank)
        text.add("; rank {} has made another call", from);
      else
        text.add("; a member has made another call");
    } else if (both && differ_in_algorithm_alone(*own, *theirs)) {
      text.add(
          "; the calls are equal, but the ranks have chosen different algorithms or pieces: give all ranks "
          "the "
          "same AQUEDUCT_COLL_… settings and the same build of the library");
    }
  }
  try {
    why_.assign(text.view());
  } catch (const std::bad_alloc&) {
    why_.clear();  // the calls fail all the same
  }
  names_both_ = both;
  const Rank lacking = without_memory(from, theirs, own);
  code_ = lacking != kNoRank ? ErrorCode::no_memory : ErrorCode::mismatch;
  const bool is_known = !same && (theirs == nullptr || theirs->refused != kForgotten);
  culprit_ = lacking != kNoRank ? lacking : is_known ? from : kNoRank;
  broken_at_ = number;
  return earlier ? Verdict::broken : Verdict::clearer;
}

}  // namespace aqueduct::coll
