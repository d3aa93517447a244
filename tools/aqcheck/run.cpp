#include "tools/aqcheck/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Place;
using coll::Space;
using coll::Step;
using coll::Sync;

namespace {

constexpr std::size_t end_of_source(std::size_t message) noexcept { return 2 * message; }
constexpr std::size_t end_of_target(std::size_t message) noexcept { return 2 * message + 1; }
Event end_event(std::size_t end) noexcept { return {Event::Kind::end, static_cast<std::uint32_t>(end), 0}; }

bool is_message(const Step& step) noexcept {
  return step.kind == Step::Kind::put || step.kind == Step::Kind::get || step.kind == Step::Kind::signal;
}
bool is_user(Space space) noexcept { return space == Space::in || space == Space::out; }

constexpr std::array kSpaceNames{"nothing", "in", "out", "scratch", "temp"};
const char* name_of(Space space) noexcept { return kSpaceNames[static_cast<std::size_t>(space)]; }

}  // namespace

Run::Run(const Case& checked, const Change& change)
    : case_(checked),
      change_(change),
      shape_(checked.shape),
      needs_(coll::Schedule::needs(*checked.algorithm, checked.shape)) {}

Verdict Run::verdict() {
  if (prepare() && count_raises() && run_lanes()) {
    check_leaving();
    check_results();
    check_costs();
  }
  return verdict_;
}

bool Run::fail(std::string text) {
  if (verdict_.problem.empty()) verdict_.problem = std::move(text);
  return false;
}

std::string Run::name(const Lane& lane, std::size_t index) const {
  return fmt::format("member {}, lane {}, step {}", lane.position, lane.lane, index);
}

/// Lists all steps. The pseudo-lanes behind the real ones stand for the members' calls.
bool Run::prepare() {
  for (Rank position = 0; position < shape_.ranks; ++position) {
    const coll::Schedule schedule(*case_.algorithm, shape_, position);
    if (schedule.lanes() < 1 || schedule.lanes() > 4) return fail("a member has no lane, or more than 4");
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      Lane made{position, lane, {}, 0, Before(0, 0), 0, false, Before(0, 0)};
      for (std::uint32_t i = 0; i < schedule.length(lane); ++i) {
        Step step = schedule.step(lane, i);
        if (change_) change_(position, lane, i, step);
        messages_ += is_message(step) ? 1 : 0;
        made.steps.push_back(step);
      }
      lanes_.push_back(std::move(made));
    }
  }
  const std::size_t all = lanes_.size() + shape_.ranks;
  for (Lane& lane : lanes_) {
    lane.before = Before(all, 2 * messages_);
    lane.before.set_steps(lanes_.size() + lane.position, 1);
  }
  const auto blocks = [&](Rank count) { return count == 0 ? 0 : (count - 1) * shape_.pitch + shape_.bytes; };
  counters_.resize(shape_.ranks);
  sources_.resize(shape_.ranks);
  for (Rank position = 0; position < shape_.ranks; ++position) {
    for (std::uint32_t i = 0; i < needs_.counters; ++i)
      counters_[position].push_back({0, 0, false, Before(all, 2 * messages_), 0});
    out_.emplace_back(blocks(coll::blocks_out(shape_, position)));
    scratch_.emplace_back(needs_.scratch);
    temp_.emplace_back(needs_.temp);
    in_.emplace_back(blocks(coll::blocks_in(shape_, position)));
    for (std::uint64_t at = 0; at < in_[position].size(); ++at)
      cell(position, Space::in, at)->value = values_.input(position, at);
  }
  return true;
}

bool Run::is_legal(const Lane& lane, const Step& step) {
  const auto problem = [&](const char* text) {
    return fail(fmt::format("{}: {}", name(lane, lane.next), text));
  };
  const auto beyond = [&](coll::Counter counter) {
    return counter != coll::kNoCounter && counter >= needs_.counters;
  };
  if (beyond(step.wait_for) || beyond(step.raise) || beyond(step.done))
    return problem("names a counter beyond what the algorithm needs");
  if (is_message(step)) {
    if (step.peer >= shape_.ranks || step.peer == lane.position) return problem("has no such peer");
    const Space far = step.kind == Step::Kind::get ? step.from.space : step.to.space;
    if (step.kind != Step::Kind::signal && is_user(far) && shape_.addresses != coll::Addresses::single)
      return problem("uses a buffer of a peer whose address is not known");
    if (step.kind != Step::Kind::signal && (far == Space::temp || far == Space::none))
      return problem("uses memory of a peer that nobody but the peer uses");
    if (step.kind == Step::Kind::put && step.to.space == Space::in) return problem("writes to an input");
    if (step.kind != Step::Kind::get && (step.raise == coll::kNoCounter || step.add == 0))
      return problem("tells the peer nothing");
    if (step.kind == Step::Kind::get && step.raise != coll::kNoCounter)
      return problem("a get cannot tell the peer");
  } else if (step.raise != coll::kNoCounter) {
    return problem("raises a counter of a peer, but has none");
  }
  return true;
}

/// Sums up what is ever added to each counter, and holds every wait to that sum.
bool Run::count_raises() {
  for (Lane& lane : lanes_) {
    for (lane.next = 0; lane.next < lane.steps.size(); ++lane.next) {
      const Step& step = lane.steps[lane.next];
      if (!is_legal(lane, step)) return false;
      if (step.raise != coll::kNoCounter) counters_[step.peer][step.raise].total += step.add;
      if (step.done != coll::kNoCounter) counters_[lane.position][step.done].total += 1;
      if (step.wait_for != coll::kNoCounter) counters_[lane.position][step.wait_for].waited = true;
    }
  }
  for (Lane& lane : lanes_) {
    for (std::size_t i = 0; i < lane.steps.size(); ++i) {
      const Step& step = lane.steps[i];
      if (step.wait_for == coll::kNoCounter) continue;
      const std::uint64_t total = counters_[lane.position][step.wait_for].total;
      if (step.wait_until != total || total == 0) {
        return fail(fmt::format("{} waits for {} on counter {}, to which {} is added in all", name(lane, i),
                                step.wait_until, step.wait_for, total));
      }
    }
    lane.next = 0;
  }
  for (Rank position = 0; position < shape_.ranks; ++position) {
    for (std::size_t i = 0; i < counters_[position].size(); ++i) {
      if (counters_[position][i].total > 0 && !counters_[position][i].waited)
        return fail(fmt::format("nobody at member {} waits for counter {}", position, i));
    }
  }
  return true;
}

bool Run::run_lanes() {
  for (bool moved = true; moved;) {
    moved = false;
    for (Lane& lane : lanes_) {
      while (lane.next < lane.steps.size()) {
        const Step& step = lane.steps[lane.next];
        if (step.wait_for != coll::kNoCounter &&
            counters_[lane.position][step.wait_for].value < step.wait_until)
          break;
        if (!begin(lane)) return false;
        ++lane.next;
        moved = true;
      }
    }
  }
  for (const Lane& lane : lanes_) {
    if (lane.next < lane.steps.size()) {
      return fail(fmt::format("deadlock: {} waits for {} on counter {}, which stays at {}",
                              name(lane, lane.next), lane.steps[lane.next].wait_until,
                              lane.steps[lane.next].wait_for,
                              counters_[lane.position][lane.steps[lane.next].wait_for].value));
    }
  }
  return true;
}

bool Run::begin(Lane& lane) {
  const Step& step = lane.steps[lane.next];
  const auto own = static_cast<std::size_t>(&lane - lanes_.data());
  lane.before.set_steps(own, static_cast<std::uint32_t>(lane.next + 1));
  if (step.wait_for != coll::kNoCounter) {
    const CounterState& counter = counters_[lane.position][step.wait_for];
    lane.before.join(counter.before);
    lane.depth = std::max(lane.depth, counter.depth);
  }
  const Event here{Event::Kind::step, static_cast<std::uint32_t>(own),
                   static_cast<std::uint32_t>(lane.next + 1)};
  Before after = lane.before;
  std::uint32_t depth = lane.depth;
  if (is_message(step)) {
    const std::size_t message = begun_++;
    const bool get = step.kind == Step::Kind::get;
    sources_[lane.position].push_back(end_of_source(message));
    if (get) sources_[lane.position].push_back(end_of_target(message));
    if (step.kind != Step::Kind::signal &&
        !move(lane, step, get ? step.peer : lane.position, end_event(end_of_source(message)),
              get ? lane.position : step.peer, end_event(end_of_target(message))))
      return false;
    ++depth;
    verdict_.counted.messages += 1;
    verdict_.counted.bytes += step.kind == Step::Kind::signal ? 0 : step.bytes * step.runs;
    verdict_.counted.depth = std::max(verdict_.counted.depth, depth);
    // A completion at this member says that the source is free. An arrival says that too.
    after.add_end(end_of_source(message));
    if (get) after.add_end(end_of_target(message));
    if (step.done != coll::kNoCounter) raise(lane.position, step.done, 1, after, get ? depth : lane.depth);
    after.add_end(end_of_target(message));
    if (step.raise != coll::kNoCounter) raise(step.peer, step.raise, step.add, after, depth);
    return true;
  }
  if (step.kind == Step::Kind::copy && !move(lane, step, lane.position, here, lane.position, here))
    return false;
  if (step.kind == Step::Kind::reduce && !reduce(lane, step, here)) return false;
  if (step.kind == Step::Kind::tell) {
    lane.told = true;
    lane.at_tell = lane.before;
  }
  if (step.done != coll::kNoCounter) raise(lane.position, step.done, 1, after, depth);
  return true;
}

void Run::raise(Rank position, coll::Counter counter, std::uint64_t add, const Before& before,
                std::uint32_t depth) {
  CounterState& state = counters_[position][counter];
  state.value += add;
  state.before.join(before);
  state.depth = std::max(state.depth, depth);
}

/// In place, the output of these operations is the member's own block of its input.
bool Run::out_is_in_input() const noexcept {
  return shape_.operation == Operation::scatter || shape_.operation == Operation::reduce_scatter;
}

Cell* Run::cell(Rank position, Space space, std::uint64_t offset) {
  Memory* memory = nullptr;
  switch (space) {
    case Space::in:
      memory = &in_[position];
      if (offset >= memory->size()) return nullptr;
      if (case_.in_place && !out_[position].empty() && !out_is_in_input()) {
        memory = &out_[position];
        if (shape_.operation == Operation::all_gather || shape_.operation == Operation::gather)
          offset += position * shape_.pitch;
      }
      break;
    case Space::out:
      memory = &out_[position];
      if (offset >= memory->size()) return nullptr;
      if (case_.in_place && !in_[position].empty() && out_is_in_input()) {
        memory = &in_[position];
        offset += position * shape_.pitch;
      }
      break;
    case Space::scratch: memory = &scratch_[position]; break;
    case Space::temp: memory = &temp_[position]; break;
    case Space::none: return nullptr;
  }
  return offset < memory->size() ? &(*memory)[offset] : nullptr;
}

bool Run::touch(const Lane& lane, Rank position, Space space, const Event& event) {
  if (!is_user(space)) return true;
  touched_.push_back({event, position});
  for (Rank member = 0; member < shape_.ranks; ++member) {
    const bool must = shape_.in == Sync::all || (shape_.in == Sync::mine && member == position);
    if (must && lane.before.steps(lanes_.size() + member) == 0) {
      return fail(fmt::format("{} touches {} of member {} before it is known that member {} has called",
                              name(lane, lane.next), name_of(space), position, member));
    }
  }
  return true;
}

bool Run::read(const Lane& lane, Rank position, const Place& place, const Step& step, const Event& event,
               std::vector<Value>& values) {
  if (step.bytes * step.runs > 0 && !touch(lane, position, place.space, event)) return false;
  for (std::uint64_t run = 0; run < step.runs; ++run) {
    for (std::uint64_t byte = 0; byte < step.bytes; ++byte) {
      const std::uint64_t at = place.offset + run * place.pitch + byte;
      Cell* const found = cell(position, place.space, at);
      const auto problem = [&](const char* text) {
        return fail(fmt::format("{} reads byte {} of {} of member {}: {}", name(lane, lane.next), at,
                                name_of(place.space), position, text));
      };
      if (found == nullptr) return problem("there is no such byte");
      if (found->value == kUnwritten) return problem("nobody has written it");
      if (!found->written.is_in(lane.before)) return problem("it may still be written");
      std::erase_if(found->read, [&](const Event& before) { return before.is_in(lane.before); });
      found->read.push_back(event);
      values.push_back(found->value);
    }
  }
  return true;
}

bool Run::write(const Lane& lane, Rank position, const Place& place, const Step& step, const Event& event,
                const std::vector<Value>& values) {
  if (step.bytes * step.runs > 0 && !touch(lane, position, place.space, event)) return false;
  auto value = values.begin();
  for (std::uint64_t run = 0; run < step.runs; ++run) {
    for (std::uint64_t byte = 0; byte < step.bytes; ++byte) {
      const std::uint64_t at = place.offset + run * place.pitch + byte;
      Cell* const found = cell(position, place.space, at);
      const auto problem = [&](const char* text) {
        return fail(fmt::format("{} writes byte {} of {} of member {}: {}", name(lane, lane.next), at,
                                name_of(place.space), position, text));
      };
      if (found == nullptr) return problem("there is no such byte");
      if (!found->written.is_in(lane.before)) return problem("another write may come after");
      for (const Event& reader : found->read) {
        const bool own =
            reader.kind == event.kind && reader.which == event.which && reader.time == event.time;
        if (!own && !reader.is_in(lane.before)) return problem("it may still be read");
      }
      found->read.clear();
      found->written = event;
      found->value = *value++;
    }
  }
  return true;
}

bool Run::move(Lane& lane, const Step& step, Rank from_position, const Event& reads, Rank to_position,
               const Event& writes) {
  if (step.bytes * step.runs > 0 && cell(from_position, step.from.space, step.from.offset) != nullptr &&
      cell(from_position, step.from.space, step.from.offset) ==
          cell(to_position, step.to.space, step.to.offset))
    return true;  // in place: the engine copies nothing
  std::vector<Value> values;
  return read(lane, from_position, step.from, step, reads, values) &&
         write(lane, to_position, step.to, step, writes, values);
}

bool Run::reduce(Lane& lane, const Step& step, const Event& event) {
  for (const Place& place : {step.from, step.with, step.to}) {
    if (place.offset % shape_.element != 0 || step.bytes % shape_.element != 0)
      return fail(fmt::format("{} cuts an element", name(lane, lane.next)));
  }
  std::vector<Value> left;
  std::vector<Value> right;
  if (!read(lane, lane.position, step.from, step, event, left) ||
      !read(lane, lane.position, step.with, step, event, right))
    return false;
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = values_.combined(left[i], right[i]);
  return write(lane, lane.position, step.to, step, event, left);
}

}  // namespace aqueduct::aqcheck
