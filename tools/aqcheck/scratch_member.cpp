// What a member of a simulated team does: as the engine, it asks TeamScratch.

#include "tools/aqcheck/scratch_world.hpp"

#include <utility>

namespace aqueduct::aqcheck {

using Kind = ScratchMistake::Kind;
using coll::Needs;
using coll::Senders;
using coll::Step;

bool ScratchWorld::poll(Rank position) {
  Member& member = *members_[position];
  if (member.team.busy() && perhaps(4)) {
    if (const auto raise = member.team.due(); raise && perhaps(8)) {  // otherwise: no room, asked again later
      post_control(position, *raise);
      member.team.sent(*raise);
      return true;
    }
  }
  if (!member.running.empty() && !member.running.back().started) {
    Running& held = member.running.back();
    if (wrong(position, Kind::starts_in_used_bank) || member.team.may_start(held.portion)) {
      Portion portion = held.portion;
      if (wrong(position, Kind::forgets_a_sender)) portion.senders &= portion.senders - 1;
      member.team.start(portion);
      held.started = true;
      // Only what has started may be opened again: so the engine has a run that is over.
      member.portions[first_of(held.operation)] = held.portion;
      if (wrong(position, Kind::drains_at_start)) {
        member.team.drained(held.portion);
        held.drained = true;
      }
      return true;
    }
  } else if (member.next < calls_.size() && member.running.size() < manner_.window && perhaps(3)) {
    call(position);
    return true;
  }
  if (member.running.empty()) return false;
  const std::size_t chosen =
      manner_.order == Manner::Order::chance ? below(static_cast<std::uint32_t>(member.running.size())) : 0;
  for (std::size_t i = 0; i < member.running.size(); ++i) {
    const std::size_t which = (chosen + i) % member.running.size();
    if (member.running[which].started && advance(position, which)) return true;
  }
  return false;
}

void ScratchWorld::call(Rank position) {
  Member& member = *members_[position];
  const auto number = static_cast<std::uint32_t>(member.next++);
  Running running{number, {}, false, false, 0, {}};
  running.next.resize(schedule(position, number).lanes());
  open(position, running);
  Executed& known = operation(number);
  if (!known.portion) known.portion = running.portion;
  if (known.portion->epoch != running.portion.epoch || known.portion->offset != running.portion.offset ||
      known.portion->first_counter != running.portion.first_counter)
    fail("operation " + std::to_string(number) + " has different portions");
  member.running.push_back(std::move(running));
}

void ScratchWorld::open(Rank position, Running& running) {
  Member& member = *members_[position];
  const ScratchCall& made = calls_[running.operation];
  Needs needs = coll::Schedule::needs(*made.algorithm, made.shape);
  if (made.whole_bank) needs = {manner_.sizes.bytes, needs.temp, manner_.sizes.counters};
  const std::size_t first = first_of(running.operation);
  Senders::Ticket fresh;
  Senders::Ticket& ticket =
      manner_.order != Manner::Order::chance || below(2) == 0 ? member.tickets[first] : fresh;
  if (running.operation == 1 && wrong(position, Kind::calls_once_more))
    member.team.start(member.team.open(*made.algorithm, made.shape, {64, 0, 1}, ticket));
  const auto before = member.portions.find(first);
  if (before != member.portions.end() && perhaps(4) && member.team.open_again(before->second)) {
    running.portion = before->second;
    running.started = true;
    ++counted_.again;
    return;
  }
  running.portion = member.team.open(*made.algorithm, made.shape, needs, ticket);
  if (before != member.portions.end() && wrong(position, Kind::keeps_portion))
    running.portion = before->second;
}

/// What has been added to a counter of a running operation.
std::uint64_t ScratchWorld::count(Rank position, const Running& running, coll::Counter counter) const {
  const std::uint64_t count = members_[position]->team.count(running.portion, counter);
  if (running.portion.epoch < manner_.sizes.banks) return count;  // the first user of the counter
  if (wrong(position, Kind::counts_from_one_less)) return count + 1;
  return count != 0 && wrong(position, Kind::counts_from_one_more) ? count - 1 : count;
}

/// Goes on with one lane by one step, or ends the operation. False if it cannot.
bool ScratchWorld::advance(Rank position, std::size_t which) {
  Member& member = *members_[position];
  Running& running = member.running[which];
  const coll::Schedule& schedule = this->schedule(position, running.operation);
  bool ended = true;
  for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
    if (running.next[lane] == schedule.length(lane)) continue;
    ended = false;
    const Step step = schedule.step(lane, running.next[lane]);
    if (step.wait_for != coll::kNoCounter) {
      const std::uint64_t arrived = count(position, running, step.wait_for);
      if (arrived > step.wait_until) fail("a counter of " + at(position) + " is beyond what is added to it");
      if (arrived < step.wait_until) continue;
    }
    const bool sends = step.kind == Step::Kind::put || step.kind == Step::Kind::signal;
    if (sends && !wrong(position, Kind::writes_without_credit) &&
        !member.team.may_write(running.portion, step.peer))
      continue;
    begin(position, running, step);
    ++running.next[lane];
    const bool last = running.next[lane] == schedule.length(lane);
    if (!last && !running.drained && wrong(position, Kind::drains_before_arrivals) &&
        schedule.step(lane, running.next[lane]).kind == Step::Kind::nothing) {
      member.team.drained(running.portion);
      running.drained = true;
    }
    return true;
  }
  if (!ended || (running.transfers > 0 && !wrong(position, Kind::drains_before_sources))) return false;
  end(position, which);
  return true;
}

void ScratchWorld::begin(Rank position, Running& running, const Step& step) {
  const std::uint32_t number = running.operation;
  switch (step.kind) {
    case Step::Kind::put:
      ++running.transfers;
      network_.push_back({Message::Kind::source, position, step.peer, number, step, {}, 0, {}});
      ++counted_.data;
      return;
    case Step::Kind::signal:
      network_.push_back({Message::Kind::data, position, step.peer, number, step, {}, 0, {}});
      ++counted_.data;
      break;
    case Step::Kind::get:
      ++running.transfers;
      network_.push_back({Message::Kind::request, position, step.peer, number, step, {}, 0, {}});
      ++counted_.data;
      return;
    case Step::Kind::copy:
      write(position, number, step.to, step, read(position, number, step.from, step));
      break;
    case Step::Kind::reduce: {
      std::vector<std::uint8_t> sum = read(position, number, step.from, step);
      const std::vector<std::uint8_t> right = read(position, number, step.with, step);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<std::uint8_t>(sum[i] + right[i]);
      write(position, number, step.to, step, sum);
      break;
    }
    case Step::Kind::native: fail("no algorithm of the library is native"); break;
    case Step::Kind::nothing:
    case Step::Kind::tell: break;
  }
  raise_own(position, running.portion, step);
}

void ScratchWorld::raise_own(Rank position, const Portion& portion, const Step& step) {
  if (step.done != coll::kNoCounter) ++members_[position]->words[portion.first_counter + step.done];
}

ScratchWorld::Running* ScratchWorld::find(Rank position, std::uint32_t number) {
  for (Running& running : members_[position]->running) {
    if (running.operation == number) return &running;
  }
  return nullptr;
}

void ScratchWorld::end(Rank position, std::size_t which) {
  Member& member = *members_[position];
  const std::uint32_t number = member.running[which].operation;
  const Portion portion = member.running[which].portion;
  Executed& known = operation(number);
  check_result(position, number);
  for (std::uint64_t i = 0; i < portion.bytes; ++i) {
    Cell& cell = member.scratch[portion.offset + i];
    if (cell.operation != number && cell.operation != kNobody)
      fail("an operation ends, and another has bytes of it at " + at(position));
    if (cell.operation == kNobody && cell.byte != kCanary) fail("a canary has changed");
    cell = {};
  }
  if (!member.running[which].drained) member.team.drained(portion);
  member.running.erase(member.running.begin() + static_cast<std::ptrdiff_t>(which));
  known.of[position].drained = true;
  if (++known.drained == ranks_) known.of.clear();
}

}  // namespace aqueduct::aqcheck
