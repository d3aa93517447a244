// What the log says when two ends of a block have given it different lengths.

#include "coll/engine/blocks_call.hpp"
#include "coll/engine/call_text.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

namespace aqueduct::coll {

namespace {

/// Chosen: one mistake may make all pairs of a member differ.
constexpr std::uint32_t kMostPairsNamed = 4;

}  // namespace

/// Names the pairs of this member whose ends differ, once all have told each other. Always mismatch, with the rank of the
/// other end of the first such pair.
Status TeamEngine::differing_ends(const CallRecord& operation) const noexcept {
  const BlocksCall& call = *operation.call->blocks;
  CallText text;
  add_call(text, call.request.description);
  const bool permutes = call.request.shape.operation == Collective::permute;
  const Rank culprit = permutes ? differing_permutation(call, text) : differing_lengths(call, text);
  if (culprit == kNoRank) {
    state_.log.error("{} on a team of {} ranks: {}; the log of the members concerned names them", text.view(),
                     ranks_,
                     permutes ? "the destinations of the members are no permutation, or not that of the "
                                "sources, or blocks have "
                                "different lengths"
                              : "the two ends of a block give it different lengths");
    return ErrorCode::mismatch;
  }
  return {ErrorCode::mismatch, team_.members[culprit]};
}

Rank TeamEngine::differing_lengths(const BlocksCall& call, const CallText& text) const noexcept {
  Rank culprit = kNoRank;
  std::uint32_t named = 0;
  const auto name = [&](Rank other, Rank from, Rank to, std::uint64_t sent, std::uint64_t expected) {
    if (culprit == kNoRank) culprit = other;
    if (named++ >= kMostPairsNamed) return;
    state_.log.error(
        "{} on a team of {} ranks: member {} (rank {}) sends {} bytes to member {} (rank {}), which expects "
        "{}: give "
        "both ends the same count",
        text.view(), ranks_, from, team_.members[from], sent, to, team_.members[to], expected);
  };
  for (Rank i = 0; i < ranks_; ++i) {
    if (i == position_) continue;
    if (call.heard[i].sent != call.receives[i].bytes)
      name(i, i, position_, call.heard[i].sent, call.receives[i].bytes);
    if (call.heard[i].expected != call.sends[i].bytes)
      name(i, position_, i, call.sends[i].bytes, call.heard[i].expected);
  }
  return culprit;
}

Rank TeamEngine::differing_permutation(const BlocksCall& call, const CallText& text) const noexcept {
  Rank first = kNoRank;
  Rank second = kNoRank;
  for (Rank i = 0; i < ranks_; ++i) {
    if (call.heard[i].sent == 0) continue;
    (first == kNoRank ? first : second) = i;
  }
  if (first == kNoRank) {
    state_.log.error(
        "{} on a team of {} ranks: no member sends to member {}: each must be the destination of one",
        text.view(), ranks_, position_);
    return position_;
  }
  if (second != kNoRank) {
    state_.log.error(
        "{} on a team of {} ranks: members {} and {} both send to member {}: each must be the destination of "
        "one",
        text.view(), ranks_, first, second, position_);
    return first;
  }
  if (call.from != kNoRank && call.from != first) {
    state_.log.error("{} on a team of {} ranks: member {} sends to member {}, which expects member {}",
                     text.view(), ranks_, first, position_, call.from);
    return first;
  }
  if (call.heard[call.to].expected == 0) {
    state_.log.error("{} on a team of {} ranks: member {} sends to member {}, which expects another member",
                     text.view(), ranks_, position_, call.to);
    return call.to;
  }
  const auto name = [&](Rank other, Rank from, Rank to, std::uint64_t sent, std::uint64_t expected) {
    state_.log.error(
        "{} on a team of {} ranks: member {} (rank {}) sends {} bytes to member {} (rank {}), which expects "
        "{}: "
        "give "
        "all members the same count",
        text.view(), ranks_, from, team_.members[from], sent - 1, to, team_.members[to], expected - 1);
    return other;
  };
  const std::uint64_t sent = call.sends.front().bytes + 1;
  const std::uint64_t expected = call.receives.front().bytes + 1;
  const PairLengths& of_sender = call.heard[first];
  if (of_sender.sent != expected) return name(first, first, position_, of_sender.sent, expected);
  const PairLengths& of_target = call.heard[call.to];
  if (of_target.expected != kAnyLength && of_target.expected != sent)
    return name(call.to, position_, call.to, sent, of_target.expected);
  return kNoRank;
}

}  // namespace aqueduct::coll
