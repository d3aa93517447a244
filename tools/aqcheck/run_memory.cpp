// Accesses of steps to memory: each has to be ordered with those before it.

#include "tools/aqcheck/legal.hpp"
#include "tools/aqcheck/run.hpp"

#include <fmt/format.h>

#include <array>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Place;
using coll::Space;
using coll::Step;
using coll::Sync;

namespace {

constexpr std::array kSpaceNames{"nothing", "in", "out", "scratch", "temp", "landed", "where", "told"};
const char* name_of(Space space) noexcept { return kSpaceNames[static_cast<std::size_t>(space)]; }

}  // namespace

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
