// Who moves when in a simulated team, and what must hold at the end.

#include "tools/aqcheck/scratch_world.hpp"

#include <algorithm>

namespace aqueduct::aqcheck {

namespace {

// Far more than a run of the tests has; a run that goes beyond it never ends.
constexpr std::uint32_t kMostTurns = 2'000'000;

}  // namespace

ScratchWorld::Member::Member(const Manner& manner, Rank ranks, Rank position)
    : layout(manner.sizes, ranks),
      words(layout.counters(), 1000 + position),  // left by somebody
      scratch(layout.bytes()),
      team(manner.sizes, ranks, position, coll::CounterWords(words), nullptr,
           manner.mistake.kind == ScratchMistake::Kind::reuses_bank_early && manner.mistake.member == position
               ? manner.sizes.banks + 1
               : manner.reuse) {}

ScratchWorld::ScratchWorld(Rank ranks, const Manner& manner, const std::vector<ScratchCall>& calls,
                           std::uint64_t seed)
    : ranks_(ranks), manner_(manner), calls_(calls), random_(seed), operations_(calls.size()) {
  for (Rank position = 0; position < ranks; ++position)
    members_.push_back(std::make_unique<Member>(manner, ranks, position));
  find_senders();
}

void ScratchWorld::find_senders() {
  schedules_.reserve(calls_.size() * ranks_);
  sends_.assign(ranks_, std::vector<bool>(ranks_));
  for (std::size_t number = 0; number < calls_.size(); ++number) {
    const ScratchCall& call = calls_[number];
    std::uint64_t steps = 0;
    for (Rank sender = 0; sender < ranks_; ++sender) {
      const coll::Schedule& schedule = schedules_.emplace_back(*call.algorithm, call.shape, sender);
      if (call.kind == ScratchCall::Kind::again) continue;
      for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
        steps += schedule.length(lane);
        for (std::uint32_t i = 0; i < schedule.length(lane); ++i) {
          const coll::Step step = schedule.step(lane, i);
          if (step.peer != kNoRank && step.kind != coll::Step::Kind::get) sends_[sender][step.peer] = true;
        }
      }
    }
    // The library does not read the steps of a longer operation: it counts as one in which all write to all.
    if (steps > coll::Senders::kMostRead) sends_.assign(ranks_, std::vector<bool>(ranks_, true));
  }
}

ScratchCounted ScratchWorld::run() {
  if (manner_.order == Manner::Order::chance)
    run_by_chance();
  else
    run_all_but_the_late();
  check_end();
  counted_.epochs = members_[0]->team.epoch();
  return counted_;
}

void ScratchWorld::run_by_chance() {
  std::uint32_t idle = 0;
  for (std::uint32_t turns = 0; idle < 3; ++turns) {
    if (turns == kMostTurns) fail("never ends");
    bool moved = false;
    for (std::uint32_t i = 0; i < manner_.keep_going; ++i) {
      const Rank position = below(ranks_);
      if (manner_.late == position && below(60) != 0) continue;
      moved |= poll(position);
    }
    if (!network_.empty()) {
      deliver(below(static_cast<std::uint32_t>(network_.size())));
      moved = true;
    }
    if (moved) continue;
    for (Rank position = 0; position < ranks_; ++position) {
      for (std::uint32_t i = 0; i < 8; ++i) moved |= poll(position);
    }
    idle = moved ? 0 : idle + 1;
  }
}

void ScratchWorld::run_all_but_the_late() {
  for (std::uint32_t turns = 0; turns < kMostTurns; ++turns) {
    bool moved = false;
    for (Rank position = 0; position < ranks_; ++position) {
      if (manner_.late == position) continue;
      while (poll(position)) moved = true;
    }
    if (!network_.empty()) {
      deliver(next_message());
      moved = true;
    }
    if (moved) continue;
    if (!manner_.late || !poll(*manner_.late)) return;
  }
  fail("never ends");
}

std::size_t ScratchWorld::next_message() const noexcept {
  if (manner_.order == Manner::Order::newest) return network_.size() - 1;
  if (manner_.order == Manner::Order::oldest || !manner_.late) return 0;
  // Of messages to the late member the newest, so that what is older is as late as it can be.
  const auto to_another = std::find_if(network_.begin(), network_.end(), [&](const Message& message) {
    return message.to != *manner_.late || message.kind == Message::Kind::source ||
           message.kind == Message::Kind::local;
  });
  if (to_another == network_.end()) return network_.size() - 1;
  return static_cast<std::size_t>(to_another - network_.begin());
}

void ScratchWorld::check_end() const {
  for (Rank position = 0; position < ranks_; ++position) {
    const Member& member = *members_[position];
    if (member.next < calls_.size() || !member.running.empty())
      fail("hangs: " + at(position) + " in call " + std::to_string(member.next));
    for (const Cell& cell : member.scratch) {
      if (cell.operation != kNobody || cell.byte != kCanary) fail(at(position) + " has bytes left over");
    }
  }
}

}  // namespace aqueduct::aqcheck
