#include "tools/aqcheck/run.hpp"

#include "tools/aqcheck/legal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Place;
using coll::Space;
using coll::Step;
using coll::Sync;

namespace {

bool moves_bytes(const Step& step) noexcept {
  return step.kind == Step::Kind::put || step.kind == Step::Kind::get || step.kind == Step::Kind::copy ||
         step.kind == Step::Kind::reduce;
}
Event mark_event(std::size_t mark) noexcept {
  return {Event::Kind::mark, static_cast<std::uint32_t>(mark), 0};
}

std::uint64_t end_of(const std::vector<coll::BlockAt>& blocks) noexcept {
  std::uint64_t end = 0;
  for (const coll::BlockAt& block : blocks) end = std::max(end, block.at + block.bytes);
  return end;
}

constexpr std::array kSpaceNames{"nothing", "in", "out", "scratch", "temp", "landed", "where", "told"};
const char* name_of(Space space) noexcept { return kSpaceNames[static_cast<std::size_t>(space)]; }

}  // namespace

Verdict Run::check(const Case& checked, const Change& change) {
  case_ = &checked;
  needs_ = coll::Schedule::needs(*checked.algorithm, checked.shape);
  verdict_ = {};
  if (prepare(change) && count_raises() && run_lanes()) {
    check_leaving();
    check_lent();
    check_results();
    check_costs();
  }
  return std::move(verdict_);
}

bool Run::fail(std::string text) {
  if (verdict_.problem.empty()) verdict_.problem = std::move(text);
  return false;
}

std::string Run::name(const Lane& lane, std::size_t index) const {
  return fmt::format("member {}, lane {}, step {}", lane.position, lane.lane, index);
}

/// Lists all steps.
bool Run::prepare(const Change& change) {
  const Rank ranks = shape().ranks;
  steps_.clear();
  lanes_.clear();
  readers_.clear();
  touched_.clear();
  lent_.clear();
  addresses_.clear();
  messages_ = 0;
  begun_ = 0;
  for (Rank position = 0; position < ranks; ++position) {
    const coll::Schedule schedule(*case_->algorithm, case_->shape_of(position), position);
    if (schedule.lanes() < 1 || schedule.lanes() > 4) return fail("a member has no lane, or more than 4");
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      Lane made{.position = position, .lane = lane, .begin = steps_.size()};
      const std::uint32_t length = schedule.length(lane);
      for (std::uint32_t i = 0; i < length; ++i) {
        Step& step = steps_.emplace_back(schedule.step(lane, i));
        if (change) change(position, lane, i, step);
        messages_ += is_message(step) ? 1 : 0;
      }
      made.end = steps_.size();
      lanes_.push_back(made);
    }
  }
  find_unit();
  // The marks: first the members' calls, then the two ends of each message.
  orders_.begin(lanes_.size(), ranks + 2 * messages_);
  for (Lane& lane : lanes_) {
    lane.before = orders_.empty();
    orders_.add_mark(lane.before, lane.position);
  }
  after_ = orders_.empty();
  counters_.assign(std::size_t{ranks} * needs_.counters, {});
  sources_.resize(ranks);
  for (std::vector<std::size_t>& ends : sources_) ends.clear();
  lay_out();
  return true;
}

void Run::find_unit() {
  unit_ = std::gcd(shape().bytes, shape().pitch);
  for (const Step& step : steps_) {
    if (unit_ == 1) break;
    if (!moves_bytes(step) || step.bytes * step.runs == 0) continue;
    unit_ = std::gcd(unit_, step.bytes);
    for (const Place* const place : {&step.from, &step.with, &step.to})
      unit_ = std::gcd(std::gcd(unit_, place->offset), step.runs > 1 ? place->pitch : 0);
    unit_ = std::gcd(unit_, step.slot);
  }
  if (unit_ == 0 || case_->blocks != nullptr) unit_ = 1;  // nothing is moved, or results begin anywhere
  pitch_ = shape().pitch / unit_;
  block_ = shape().bytes / unit_;
}

void Run::lay_out() {
  const auto pieces = [&](Rank blocks) { return blocks == 0 ? 0 : (blocks - 1) * pitch_ + block_; };
  std::size_t all = 0;
  std::uint64_t most = 0;
  spaces_.clear();
  for (Rank position = 0; position < shape().ranks; ++position) {
    Spaces made{};
    made.in_count = pieces(coll::blocks_in(shape(), position));
    made.out_count = pieces(coll::blocks_out(shape(), position));
    if (case_->blocks != nullptr) {
      made.in_count = end_of(case_->blocks->sends[position]);
      made.out_count = end_of(case_->blocks->receives[position]) + 1;  // a byte that stays as it is
    }
    made.in = all;
    made.out = made.in + made.in_count;
    made.scratch = made.out + made.out_count;
    made.temp = made.scratch + needs_.scratch / unit_;
    all = made.temp + needs_.temp / unit_;
    most = std::max(most, made.in_count);
    spaces_.push_back(made);
  }
  cells_.assign(all, {});
  values_.begin(shape().ranks, most);
  for (Rank position = 0; position < shape().ranks; ++position) {
    const Area in = area(position, Space::in);
    for (std::uint64_t at = 0; at < in.count; ++at) in.cells[at].value = values_.input(position, at);
  }
}

/// Sums up what is ever added to each counter, and holds every wait to that sum.
bool Run::count_raises() {
  for (Lane& lane : lanes_) {
    for (lane.next = 0; lane.begin + lane.next < lane.end; ++lane.next) {
      const Step& step = step_of(lane);
      if (const char* const problem = illegal(shape(), needs_, lane.position, step); problem != nullptr)
        return fail(fmt::format("{}: {}", name(lane, lane.next), problem));
      if (step.raise != coll::kNoCounter) counter(step.peer, step.raise).total += step.add;
      if (step.done != coll::kNoCounter) counter(lane.position, step.done).total += 1;
      if (step.wait_for != coll::kNoCounter) counter(lane.position, step.wait_for).waited = true;
    }
  }
  for (Lane& lane : lanes_) {
    lane.next = 0;
    for (std::size_t i = lane.begin; i < lane.end; ++i) {
      const Step& step = steps_[i];
      if (step.wait_for == coll::kNoCounter) continue;
      const std::uint64_t total = counter(lane.position, step.wait_for).total;
      if (step.wait_until != total || total == 0) {
        return fail(fmt::format("{} waits for {} on counter {}, to which {} is added in all",
                                name(lane, i - lane.begin), step.wait_until, step.wait_for, total));
      }
    }
  }
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (counters_[i].total > kMostArrivals)
      return fail(overflow_text(i / needs_.counters, i % needs_.counters, counters_[i].total));
    if (counters_[i].total > 0 && !counters_[i].waited)
      return fail(
          fmt::format("nobody at member {} waits for counter {}", i / needs_.counters, i % needs_.counters));
  }
  return true;
}

bool Run::run_lanes() {
  for (bool moved = true; moved;) {
    moved = false;
    for (Lane& lane : lanes_) {
      while (lane.begin + lane.next < lane.end) {
        const Step& step = step_of(lane);
        if (step.wait_for != coll::kNoCounter &&
            counter(lane.position, step.wait_for).value < step.wait_until)
          break;
        if (!begin(lane)) return false;
        ++lane.next;
        moved = true;
      }
    }
  }
  for (const Lane& lane : lanes_) {
    if (lane.begin + lane.next == lane.end) continue;
    const Step& step = step_of(lane);
    return fail(fmt::format("deadlock: {} waits for {} on counter {}, which stays at {}",
                            name(lane, lane.next), step.wait_until, step.wait_for,
                            counter(lane.position, step.wait_for).value));
  }
  return true;
}

/// A member writes down an address before it is put.
bool Run::announce(Lane& lane, Step& step, const Event& event) {
  const bool reached = case_->is_reached(lane.position);
  const Place place = reached ? step.with : Place{Space::scratch, step.from.offset, 0};
  const std::uint64_t pieces = coll::kAnnouncementBytes / unit_;
  std::vector<Value> values;
  for (std::uint64_t i = 0; i < pieces; ++i)
    values.push_back(static_cast<Value>(kFirstAddress + addresses_.size() * pieces + i));
  addresses_.push_back({lane.position, place});
  step.from = {Space::temp, step.slot, 0};
  Step written = step;
  written.bytes = coll::kAnnouncementBytes;
  return write(lane, lane.position, step.from, written, event, values);
}

/// Where a peer has said that bytes for it are to go.
bool Run::find_told(Lane& lane, Step& step, const Event& event) {
  const std::uint64_t pieces = coll::kAnnouncementBytes / unit_;
  Step reading;
  reading.bytes = coll::kAnnouncementBytes;
  std::vector<Value> values;
  if (!read(lane, lane.position, {Space::scratch, step.slot, 0}, reading, event, values)) return false;
  const auto no_address = [&](const char* text) {
    return fail(fmt::format("{} goes to where {}", name(lane, lane.next), text));
  };
  if (values.front() < kFirstAddress) return no_address("no address is");
  const Value first = values.front() - kFirstAddress;
  for (std::uint64_t i = 0; i < pieces; ++i) {
    if (first % pieces != 0 || values[i] != kFirstAddress + first + i) return no_address("no address is");
  }
  const Address& found = addresses_[first / pieces];
  if (found.position != step.peer) return no_address("another member has said");
  step.to = {found.place.space, found.place.offset + step.to.offset, step.to.pitch};
  return true;
}

/// Names the spaces that a step really uses. What is where it is to be is not copied.
bool Run::resolve(Lane& lane, Step& step, const Event& announces, const Event& sends) {
  if (step.from.space == Space::where) return announce(lane, step, announces);
  if (step.from.space == Space::landed) {
    if (!case_->is_reached(lane.position))
      step.from.space = Space::scratch;
    else if (step.kind == Step::Kind::copy)
      step = {};
    else
      step.from = step.with;
  }
  return step.to.space != Space::told || find_told(lane, step, sends);
}

bool Run::begin(Lane& lane) {
  Step step = step_of(lane);
  const auto own = static_cast<std::size_t>(&lane - lanes_.data());
  const auto time = static_cast<std::uint32_t>(lane.next + 1);
  orders_.set_steps(lane.before, own, time);
  if (step.wait_for != coll::kNoCounter) {
    const CounterState& waited = counter(lane.position, step.wait_for);
    orders_.join(lane.before, waited.before);
    lane.depth = std::max(lane.depth, waited.depth);
  }
  const Event here{Event::Kind::step, static_cast<std::uint32_t>(own), time};
  if (is_message(step)) {
    const std::size_t source = shape().ranks + 2 * begun_++;
    const std::size_t target = source + 1;
    const bool get = step.kind == Step::Kind::get;
    if (!resolve(lane, step, here, mark_event(source))) return false;
    sources_[lane.position].push_back(source);
    if (get) sources_[lane.position].push_back(target);
    if (step.kind != Step::Kind::signal &&
        !move(lane, step, get ? step.peer : lane.position, mark_event(source),
              get ? lane.position : step.peer, mark_event(target)))
      return false;
    const std::uint32_t depth = lane.depth + 1;
    verdict_.counted.messages += 1;
    verdict_.counted.bytes += step.kind == Step::Kind::signal ? 0 : step.bytes * step.runs;
    verdict_.counted.depth = std::max(verdict_.counted.depth, depth);
    // A completion at this member says that the source is free. An arrival says that too.
    orders_.assign(after_, lane.before);
    orders_.add_mark(after_, source);
    if (get) orders_.add_mark(after_, target);
    if (step.done != coll::kNoCounter) raise(lane.position, step.done, 1, after_, get ? depth : lane.depth);
    orders_.add_mark(after_, target);
    if (step.raise != coll::kNoCounter) raise(step.peer, step.raise, step.add, after_, depth);
    return true;
  }
  if (!resolve(lane, step, here, here)) return false;
  if (step.kind == Step::Kind::copy && !move(lane, step, lane.position, here, lane.position, here))
    return false;
  if (step.kind == Step::Kind::reduce && !reduce(lane, step, here)) return false;
  if (step.kind == Step::Kind::tell) lane.at_tell = orders_.copy(lane.before);
  if (step.done != coll::kNoCounter) raise(lane.position, step.done, 1, lane.before, lane.depth);
  return true;
}

void Run::raise(Rank position, coll::Counter number, std::uint64_t add, Orders::Row before,
                std::uint32_t depth) {
  CounterState& state = counter(position, number);
  state.value += add;
  if (state.before == Orders::kNone)
    state.before = orders_.copy(before);
  else
    orders_.join(state.before, before);
  state.depth = std::max(state.depth, depth);
}

/// In place, the output of these operations is the member's own block of its input.
bool Run::out_is_in_input() const noexcept {
  return shape().operation == Operation::scatter || shape().operation == Operation::scatter_v ||
         shape().operation == Operation::reduce_scatter;
}

Run::Area Run::area(Rank position, Space space) noexcept {
  const Spaces& of = spaces_[position];
  Cell* const all = cells_.data();
  switch (space) {
    case Space::in:
      if (case_->in_place && of.out_count > 0 && !out_is_in_input()) {
        const bool gathers =
            shape().operation == Operation::all_gather || shape().operation == Operation::gather ||
            shape().operation == Operation::all_gather_v || shape().operation == Operation::gather_v;
        return {all + of.out + (gathers ? position * pitch_ : 0), of.in_count};
      }
      return {all + of.in, of.in_count};
    case Space::out:
      if (case_->in_place && of.in_count > 0 && out_is_in_input())
        return {all + of.in + position * pitch_, of.out_count};
      return {all + of.out, of.out_count};
    case Space::scratch: return {all + of.scratch, needs_.scratch / unit_};
    case Space::temp: return {all + of.temp, needs_.temp / unit_};
    default: return {};
  }
  return {};
}

bool Run::touch(Lane& lane, Rank position, Space space, const Event& event) {
  if (!is_user(space)) return true;
  touched_.push_back({event, position});
  if (shape().in == Sync::none || lane.knows_calls) return true;
  for (Rank member = 0; member < shape().ranks; ++member) {
    const bool must = shape().in == Sync::all || member == position;
    if (must && !orders_.has_mark(lane.before, member)) {
      return fail(fmt::format("{} touches {} of member {} before it is known that member {} has called",
                              name(lane, lane.next), name_of(space), position, member));
    }
  }
  lane.knows_calls = shape().in == Sync::all;
  return true;
}

/// A read that is over before the new one says nothing more: whoever comes after the new one comes after it too.
void Run::add_reader(Cell& cell, Orders::Row before, const Event& event) {
  for (std::uint32_t* at = &cell.read; *at != kNoReader;) {
    if (orders_.has(before, readers_[*at].event))
      *at = readers_[*at].next;
    else
      at = &readers_[*at].next;
  }
  readers_.push_back({event, cell.read});
  cell.read = static_cast<std::uint32_t>(readers_.size() - 1);
}

bool Run::read(Lane& lane, Rank position, const Place& place, const Step& step, const Event& event,
               std::vector<Value>& values) {
  values.clear();
  if (step.bytes * step.runs == 0) return true;
  if (!touch(lane, position, place.space, event)) return false;
  if (place.space == Space::scratch && position != lane.position) lent_.push_back({event, position});
  const Area from = area(position, place.space);
  const std::uint64_t count = step.bytes / unit_;
  for (std::uint64_t run = 0; run < step.runs; ++run) {
    const std::uint64_t first = (place.offset + run * place.pitch) / unit_;
    for (std::uint64_t at = first; at < first + count; ++at) {
      const auto problem = [&](const char* text) {
        return fail(fmt::format("{} reads byte {} of {} of member {}: {}", name(lane, lane.next), at * unit_,
                                name_of(place.space), position, text));
      };
      if (at >= from.count) return problem("there is no such byte");
      Cell& found = from.cells[at];
      if (found.value == kUnwritten) return problem("nobody has written it");
      if (!orders_.has(lane.before, found.written)) return problem("it may still be written");
      add_reader(found, lane.before, event);
      values.push_back(found.value);
    }
  }
  return true;
}

bool Run::write(Lane& lane, Rank position, const Place& place, const Step& step, const Event& event,
                const std::vector<Value>& values) {
  if (step.bytes * step.runs == 0) return true;
  if (!touch(lane, position, place.space, event)) return false;
  const Area to = area(position, place.space);
  const std::uint64_t count = step.bytes / unit_;
  auto value = values.begin();
  for (std::uint64_t run = 0; run < step.runs; ++run) {
    const std::uint64_t first = (place.offset + run * place.pitch) / unit_;
    for (std::uint64_t at = first; at < first + count; ++at) {
      const auto problem = [&](const char* text) {
        return fail(fmt::format("{} writes byte {} of {} of member {}: {}", name(lane, lane.next), at * unit_,
                                name_of(place.space), position, text));
      };
      if (at >= to.count) return problem("there is no such byte");
      Cell& found = to.cells[at];
      if (!orders_.has(lane.before, found.written)) return problem("another write may come after");
      for (std::uint32_t reader = found.read; reader != kNoReader; reader = readers_[reader].next) {
        const Event& read = readers_[reader].event;
        if (!(read == event) && !orders_.has(lane.before, read)) return problem("it may still be read");
      }
      found.read = kNoReader;
      found.written = event;
      found.value = *value++;
    }
  }
  return true;
}

bool Run::move(Lane& lane, const Step& step, Rank from_position, const Event& reads, Rank to_position,
               const Event& writes) {
  if (case_->in_place && step.bytes * step.runs > 0) {
    const Area from = area(from_position, step.from.space);
    const Area to = area(to_position, step.to.space);
    const std::uint64_t first = step.from.offset / unit_;
    const std::uint64_t second = step.to.offset / unit_;
    if (first < from.count && second < to.count && from.cells + first == to.cells + second)
      return true;  // the engine copies nothing
  }
  return read(lane, from_position, step.from, step, reads, left_) &&
         write(lane, to_position, step.to, step, writes, left_);
}

bool Run::reduce(Lane& lane, const Step& step, const Event& event) {
  for (const Place* const place : {&step.from, &step.with, &step.to}) {
    if (place->offset % shape().element != 0 || step.bytes % shape().element != 0)
      return fail(fmt::format("{} cuts an element", name(lane, lane.next)));
  }
  if (!read(lane, lane.position, step.from, step, event, left_) ||
      !read(lane, lane.position, step.with, step, event, right_))
    return false;
  for (std::size_t i = 0; i < left_.size(); ++i) left_[i] = values_.combined(left_[i], right_[i]);
  return write(lane, lane.position, step.to, step, event, left_);
}

}  // namespace aqueduct::aqcheck
