#include "coll/model/replay_state.hpp"

#include "coll/model/processors.hpp"

#include <algorithm>
#include <bit>

namespace aqueduct::coll {

std::uint32_t ReplayState::lanes_of_call(std::span<const ReplayedCall> calls) noexcept {
  std::uint32_t most = 1;
  for (const ReplayedCall& call : calls) {
    for (Rank rank = 0; rank < call.shape.ranks; ++rank)
      most = std::max(most, call.algorithm->lanes(call.shape, rank));
  }
  return std::bit_ceil(most);
}

ReplayState::ReplayState(std::span<const ReplayedCall> calls_to_do, const Machine& on,
                         const ReplayOptions& how)
    : calls(calls_to_do),
      machine(on),
      options(how),
      ranks(calls_to_do.front().shape.ranks),
      lanes_each(lanes_of_call(calls_to_do)),
      lanes_of(lanes_each * static_cast<std::uint32_t>(calls_to_do.size())),
      ports(on, how, ranks),
      lanes_shift_(static_cast<unsigned>(std::countr_zero(lanes_each))) {
  ports.begin();
  schedules_.reserve(calls.size());
  for (const ReplayedCall& call : calls) {
    schedules_.emplace_back(*call.algorithm, call.shape);
    notes_.emplace_back(TeamSchedule::notes(*call.algorithm, call.shape));
    schedules_.back().take_notes(notes_.back());
    schedules_.back().take_blocks(call.blocks);
    first_counter_.push_back(counters_of_);
    counters_of_ += Schedule::needs(*call.algorithm, call.shape).counters;
  }
  counters_.resize(std::size_t{ranks} * counters_of_);
  out.members.resize(ranks, {.ended = kNever});
  lanes_.resize(std::size_t{ranks} * lanes_of);
  for (Rank rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t i = 0; i < lanes_of; ++i) {
      Lane& one = lane(rank, i);
      const TeamSchedule& schedule = schedules_[call_of(i)];
      const std::uint32_t number = i & (lanes_each - 1);
      const bool exists = number < schedule.lanes(rank);
      if (exists) one.lengths = schedule.lengths(rank, number);
      one.told = one.ended = !exists;
    }
    out.members[rank].called = called(rank);
  }
}

std::uint64_t ReplayState::bytes_of_member(std::span<const ReplayedCall> calls) {
  const std::uint64_t lanes = lanes_of_call(calls);
  std::uint64_t bytes = sizeof(ReplayedMember) + Ports::kBytesOfMember + Processors::kBytesOfMember;
  for (const ReplayedCall& call : calls) {
    bytes += lanes * sizeof(Lane) +
             Schedule::needs(*call.algorithm, call.shape).counters * sizeof(CounterState) +
             TeamSchedule::notes(*call.algorithm, call.shape) / call.shape.ranks;
  }
  return bytes;
}

Picoseconds ReplayState::local_time(const Brief& step) const noexcept {
  const std::uint64_t each = step.kind == Step::Kind::copy     ? machine.copy_femtoseconds_per_byte
                             : step.kind == Step::Kind::reduce ? machine.reduce_femtoseconds_per_byte
                                                               : 0;
  return each == 0 ? 0 : LogGP{.femtoseconds_per_byte = each}.bytes_time(step.bytes * step.runs);
}

bool ReplayState::goes_on() {
  if (options.most_messages != 0 && ports.messages() > options.most_messages)
    fail("it sends more than " + std::to_string(options.most_messages) + " messages");
  if (too_much_ || ports.too_much()) fail(kTooMuch);
  return out.problem.empty();
}

void ReplayState::finish() {
  out.messages = ports.messages();
  out.bytes = ports.bytes();
  out.messages_between_hosts = ports.messages_between_hosts();
  out.bytes_between_hosts = ports.bytes_between_hosts();
  if (too_much_ || ports.too_much()) fail(kTooMuch);
  if (!out.problem.empty()) return;
  Picoseconds first = kNever;
  Picoseconds last = 0;
  for (Rank rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t i = 0; i < lanes_of; ++i) {
      const Lane& one = lane(rank, i);
      if (one.ended) continue;
      return fail("member " + std::to_string(rank) + ", lane " + std::to_string(i & (lanes_each - 1)) +
                  ", step " + std::to_string(one.next) + ": it waits for ever");
    }
    first = std::min(first, out.members[rank].called);
    last = std::max(last, out.members[rank].ended);
  }
  out.time = last - std::min(first, last);
}

}  // namespace aqueduct::coll
