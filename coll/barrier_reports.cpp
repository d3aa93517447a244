// What stall reports are told of barriers, and which rank no barrier reaches.

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "core/memory_probe.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace aqueduct::coll {

namespace {

// Chosen: programs that free memory again do so sooner.
constexpr std::chrono::seconds kNoMemoryLimit{5};
// Chosen: waits look every 20 ms. A rank that computes or is stopped between two looks has not tried to send meanwhile.
constexpr std::chrono::seconds kLooksSeldom{1};

}  // namespace

// What the engine's operation waits for, Collectives::describe adds.
std::string Barriers::describe_split(const BarrierState& barrier) const {
  const TeamState& team = *barrier.team;
  if (barrier.split_flies)
    return fmt::format("a barrier of a team of {} ranks (member {})", team.size(), team.index);
  return fmt::format("phase {} of the barrier of a team of {} ranks (member {}), in which it waits for {}",
                     barrier.phase, team.size(), team.index, missing(barrier));
}

std::string Barriers::missing(const BarrierState& barrier) const {
  const TeamState& team = *barrier.team;
  std::vector<Rank> ranks;
  if (barrier.native) {
    ranks = barrier.native->missing(barrier.phase);
  } else if (barrier.under_way && barrier.round < barrier.rounds) {
    const std::uint64_t distance = std::uint64_t{1} << barrier.round;
    ranks = {team.members[(team.index + team.size() - distance % team.size()) % team.size()]};
  }
  std::string text;
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMost); ++i) {
    text += fmt::format("{}{}", i == 0 ? "rank " : ", ", ranks[i]);
  }
  if (ranks.size() > kMost) text += fmt::format(" and {} more", ranks.size() - kMost);
  return text.empty() ? "news of its end" : text;
}

void Barriers::describe(std::string& text, Rank) const {
  for (const auto& [id, barrier] : barriers_) {
    if (barrier.ops == 0 || !barrier.under_way) continue;
    text += fmt::format("; phase {} of {} of the barrier of a team of {} ranks waits for {}", barrier.phase,
                        barrier.asked, barrier.team->size(), missing(barrier));
  }
}

void Barriers::report_forgotten(Rank from, Forgotten why) noexcept {
  if (why == Forgotten::too_many) {
    state_.log.error(
        "rank {} has arrived at a barrier of a team that this rank has not made yet or has ended alone, and "
        "{} such teams are remembered already, which is the most: that barrier could not end, so the rank is "
        "taken for lost",
        from, kMostStrange);
    return;
  }
  state_.log.error(
      "there is no memory to remember that rank {} has arrived at a barrier of a team that this rank has "
      "not made yet, and that barrier could not end: the rank is taken for lost (see ulimit -v, setrlimit "
      "and vm.overcommit_memory)",
      from);
}

Rank Barriers::unreachable() noexcept {
  if (std::exchange(has_forgotten_, false)) {
    for (Rank from = 0; from < state_.ranks; ++from) {
      if (forgotten_[from] == Forgotten::no || state_.lost[from]) continue;
      has_forgotten_ = true;  // there may be more
      report_forgotten(from, std::exchange(forgotten_[from], Forgotten::no));
      return from;
    }
  }
  const auto now = state_.clock.now();
  const bool was_away = now - std::exchange(looked_at_, now) > kLooksSeldom;
  if (queued_ == 0 || core::gets_memory()) {
    short_since_ = {};
    return kNoRank;
  }
  if (was_away || short_since_ == core::Clock::time_point{}) short_since_ = now;
  // Operations in flight, and messages without an answer, may be what takes the room: then the peer is only late.
  if (now - short_since_ < kNoMemoryLimit || state_.ops.in_flight() != 0) return kNoRank;
  Rank to = without_room(finish_);
  for (auto one = barriers_.begin(); to == kNoRank && one != barriers_.end(); ++one)
    to = without_room(one->second);
  if (to != kNoRank)
    state_.log.error(
        "a barrier's message to rank {} has found no room for {:.1f} s, and {}: the rank is taken for lost",
        to, std::chrono::duration<double>(now - short_since_).count(), core::kNoMemory);
  return to;
}

/// The rank to which a message of the barrier has found no room, if that is not because it has not answered; else kNoRank.
Rank Barriers::without_room(const BarrierState& barrier) const noexcept {
  if (!barrier.queued || barrier.team == nullptr) return kNoRank;
  const TeamState& team = *barrier.team;
  const Rank to = team.members[(team.index + (std::uint64_t{1} << barrier.to_send)) % team.size()];
  return state_.lost[to] || !state_.messages->has_all_credits(to) ? kNoRank : to;
}

}  // namespace aqueduct::coll
