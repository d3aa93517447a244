#include "coll/schedule/announced.hpp"

#include "coll/schedule/parts.hpp"

namespace aqueduct::coll {

namespace {

constexpr std::uint64_t kLineBytes = 64;

constexpr std::uint64_t up_to(std::uint64_t bytes, std::uint64_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

/// Whether an output has a block for each member.
bool has_blocks(Operation operation) noexcept {
  return operation == Operation::gather || operation == Operation::all_gather ||
         operation == Operation::all_to_all;
}

/// The block of an output that a peer writes; of other outputs, where it begins.
std::uint64_t begin_of(const Shape& shape, Rank writer) noexcept {
  return has_blocks(shape.operation) ? writer * shape.pitch : 0;
}

}  // namespace

Announced::Announced(const Algorithm& algorithm, const Shape& shape) noexcept
    : algorithm_(algorithm), asking_(shape) {
  asking_.addresses = Addresses::announced;
  if (shape.bytes == 0 || shape.ranks == 1) return;
  landing_at_ = up_to(shape.ranks * kAnnouncementBytes, kLineBytes);
  const std::uint64_t blocks = has_blocks(shape.operation) ? shape.ranks - 1 : 1;
  own_at_ = landing_at_ + up_to(blocks * shape.bytes, kLineBytes);
  temp_at_ = up_to(algorithm.needs(asking_).temp, kAnnouncementBytes);
}

Needs Announced::needs() const noexcept {
  Needs needs = algorithm_.needs(asking_);
  if (own_at_ == 0) return needs;
  needs.scratch += own_at_;
  needs.temp = temp_at_ + asking_.ranks * kAnnouncementBytes;
  return needs;
}

Cost Announced::cost() const noexcept {
  Cost cost = algorithm_.cost(asking_);
  Shape silent = asking_;
  silent.in = Sync::none;
  silent.addresses = Addresses::single;
  cost.depth_is_limit = true;  // an announcement may travel beside the pass before
  // The signals that became announcements.
  cost.bytes += (cost.messages - algorithm_.cost(silent).messages) * kAnnouncementBytes;
  return cost;
}

/// The room in scratch for what one peer brings; of one block for all, where that begins. A member brings itself nothing.
Place Announced::landing(Rank position, Rank writer) const noexcept {
  const std::uint64_t before = !has_blocks(asking_.operation) ? 0 : writer - (writer > position ? 1 : 0);
  return {Space::landed, landing_at_ + before * asking_.bytes, asking_.bytes};
}

/// The steps at the end of a lane that copy what has landed in scratch: before and behind what the member has written itself.
std::uint32_t Announced::copies(Rank position, std::uint32_t lane) const noexcept {
  if (lane != 0 || own_at_ == 0 || blocks_out(asking_, position) == 0) return 0;
  if (asking_.operation == Operation::broadcast || asking_.operation == Operation::scatter)
    return position == asking_.root ? 0 : 1;
  return 2;
}

Step Announced::copy(Rank position, std::uint32_t which) const noexcept {
  Step step;
  step.kind = Step::Kind::copy;
  if (has_blocks(asking_.operation)) {
    const Rank first = which == 0 ? 0 : position + 1;
    step.from = landing(position, first);
    step.to = {Space::out, first * asking_.pitch, asking_.pitch};
    step.bytes = asking_.bytes;
    step.runs = which == 0 ? position : asking_.ranks - 1 - position;
    if (step.runs == 0) return {};
  } else {
    const Parts parts(asking_);
    const bool all = copies(position, 0) == 1;
    const std::uint64_t first = all || which == 0 ? 0 : parts.begin(position + std::uint64_t{1});
    step.bytes = (all || which != 0 ? asking_.bytes : parts.begin(position)) - first;
    if (step.bytes == 0) return {};
    step.from = {Space::landed, landing_at_ + first, 0};
    step.to = {Space::out, first, 0};
  }
  step.with = step.to;
  return step;
}

std::uint32_t Announced::length(Rank position, std::uint32_t lane) const noexcept {
  return algorithm_.length(asking_, position, lane) + copies(position, lane);
}

Step Announced::step(Rank position, std::uint32_t lane, std::uint32_t index) const noexcept {
  const std::uint32_t own = algorithm_.length(asking_, position, lane);
  if (index >= own) return copy(position, index - own);
  Step step = algorithm_.step(asking_, position, lane, index);
  for (Place* const place : {&step.from, &step.with, &step.to})
    if (place->space == Space::scratch) place->offset += own_at_;
  if (step.kind == Step::Kind::signal) {
    step.kind = Step::Kind::put;
    step.from = landing(position, step.peer);
    step.from.space = Space::where;
    step.with = {Space::out, begin_of(asking_, step.peer), 0};
    step.to = {Space::scratch, slot_of(position), 0};
    step.bytes = kAnnouncementBytes;
    step.slot = temp_at_ + slot_of(step.peer);
    return step;
  }
  if (step.kind != Step::Kind::put) return step;
  // What a member forwards stands where it has landed.
  if (step.from.space == Space::out && asking_.operation == Operation::broadcast) {
    step.with = step.from;
    step.from = {Space::landed, landing_at_ + step.from.offset, step.from.pitch};
  }
  if (step.to.space == Space::out) {
    step.to = {Space::told, step.to.offset - begin_of(asking_, position), step.to.pitch};
    step.slot = slot_of(step.peer);
  }
  return step;
}

}  // namespace aqueduct::coll
