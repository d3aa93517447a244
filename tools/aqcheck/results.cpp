#include "tools/aqcheck/run.hpp"

#include <fmt/format.h>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Sync;

/// What is known when a member returns must include all that touches its buffers; with Sync::all, all that touches
/// anybody's. The user's accesses after the return come after nothing else.
void Run::check_leaving() {
  std::vector<Before> leaving;
  for (Rank position = 0; position < shape_.ranks; ++position) {
    Before known(lanes_.size() + shape_.ranks, 2 * messages_);
    for (const Lane& lane : lanes_) {
      if (lane.position == position) known.join(lane.told ? lane.at_tell : lane.before);
    }
    // The engine completes an operation when its puts have left their sources and its gets have arrived.
    for (const std::size_t end : sources_[position]) known.add_end(end);
    leaving.push_back(std::move(known));
  }
  for (Rank position = 0; position < shape_.ranks; ++position) {
    for (const Touched& touched : touched_) {
      if (shape_.out == Sync::none || (shape_.out == Sync::mine && touched.position != position)) continue;
      if (!touched.event.is_in(leaving[position])) {
        fail(fmt::format("member {} returns while a buffer of member {} may still be in use", position,
                         touched.position));
        return;
      }
    }
    if (shape_.operation != Operation::barrier) continue;
    for (Rank member = 0; member < shape_.ranks; ++member) {
      if (leaving[position].steps(lanes_.size() + member) == 0)
        fail(fmt::format("member {} returns without knowing that member {} has called", position, member));
    }
  }
}

bool Run::check_byte(Rank position, Rank block, std::uint64_t offset, Value value) {
  switch (shape_.operation) {
    case Operation::broadcast: return value == values_.input(shape_.root, offset);
    case Operation::scatter: return value == values_.input(shape_.root, position * shape_.pitch + offset);
    case Operation::gather:
    case Operation::all_gather: return value == values_.input(block, offset);
    case Operation::all_to_all: return value == values_.input(block, position * shape_.pitch + offset);
    case Operation::reduce: return is_result(value, shape_.ranks, offset);
    case Operation::reduce_scatter: return is_result(value, shape_.ranks, position * shape_.pitch + offset);
    case Operation::scan: return is_result(value, position + 1, offset);
    case Operation::exscan: {
      // The output of member 0 is not written: there is nothing before it.
      if (position > 0) return is_result(value, position, offset);
      return value == (case_.in_place ? values_.input(0, offset) : kUnwritten);
    }
    case Operation::all_reduce: {
      if (!is_result(value, shape_.ranks, offset)) return false;
      return shape_.order != coll::Order::same_everywhere || position == 0 ||
             value == cell(0, coll::Space::out, offset)->value;
    }
    case Operation::barrier:
    case Operation::permute: return false;  // no algorithm does it; a barrier has no output
  }
  return false;
}

/// Whether the value combines byte `offset` of the first `count` members as the shape allows it.
bool Run::is_result(Value value, Rank count, std::uint64_t offset) {
  if (shape_.order == coll::Order::exact) return value == values_.left_to_right(count, offset);
  return values_.is_sum(value, count, offset, shape_.commutative);
}

void Run::check_results() {
  for (Rank position = 0; position < shape_.ranks; ++position) {
    const Rank blocks = coll::blocks_out(shape_, position);
    for (std::uint64_t at = 0; at < out_[position].size(); ++at) {
      const auto block = static_cast<Rank>(at / shape_.pitch);
      const std::uint64_t offset = at % shape_.pitch;
      const Value value = cell(position, coll::Space::out, at)->value;
      if (block < blocks && offset < shape_.bytes ? !check_byte(position, block, offset, value)
                                                  : value != kUnwritten) {
        fail(fmt::format("member {} has a wrong byte {} in its output", position, at));
        return;
      }
    }
  }
}

void Run::check_costs() {
  const coll::Cost cost = coll::Schedule::cost(*case_.algorithm, shape_);
  const Counted& counted = verdict_.counted;
  const bool depth = cost.depth_is_limit ? counted.depth <= cost.depth : counted.depth == cost.depth;
  if (counted.messages != cost.messages || counted.bytes != cost.bytes || !depth) {
    fail(fmt::format("the formula says {} messages, {} bytes, depth {}; counted are {}, {}, {}",
                     cost.messages, cost.bytes, cost.depth, counted.messages, counted.bytes, counted.depth));
  }
}

}  // namespace aqueduct::aqcheck
