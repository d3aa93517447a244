#include "tools/aqcheck/run.hpp"
#include "tools/aqcheck/wrong_costs.hpp"

#include <fmt/format.h>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Sync;

/// What is known when a member returns must include all that touches its buffers; with Sync::all, all that touches
/// anybody's. The user's accesses after the return come after nothing else.
void Run::check_leaving() {
  const bool barrier = shape().operation == Operation::barrier;
  if (shape().out == Sync::none && !barrier) return;
  std::vector<Orders::Row> leaving;
  for (Rank position = 0; position < shape().ranks; ++position) leaving.push_back(orders_.empty());
  for (const Lane& lane : lanes_)
    orders_.join(leaving[lane.position], lane.at_tell != Orders::kNone ? lane.at_tell : lane.before);
  for (Rank position = 0; position < shape().ranks; ++position) {
    // The engine completes an operation when its puts have left their sources and its gets have arrived.
    for (const std::size_t end : sources_[position]) orders_.add_mark(leaving[position], end);
  }
  for (Rank position = 0; position < shape().ranks; ++position) {
    for (const Touched& touched : touched_) {
      if (shape().out == Sync::none || (shape().out == Sync::mine && touched.position != position)) continue;
      if (!orders_.has(leaving[position], touched.event)) {
        fail(fmt::format("member {} returns while a buffer of member {} may still be in use", position,
                         touched.position));
        return;
      }
    }
    if (!barrier) continue;
    for (Rank member = 0; member < shape().ranks; ++member) {
      if (!orders_.has_mark(leaving[position], member))
        fail(fmt::format("member {} returns without knowing that member {} has called", position, member));
    }
  }
}

/// A member's part of the scratch is used again when its operation is over, whatever the mode.
void Run::check_lent() {
  for (const Touched& read : lent_) {
    Orders::Row over = orders_.empty();
    for (const Lane& lane : lanes_) {
      if (lane.position == read.position) orders_.join(over, lane.before);
    }
    if (!orders_.has(over, read.event))
      fail(fmt::format("the scratch of member {} may still be read when it returns", read.position));
  }
}

bool Run::check_piece(Rank position, Rank block, std::uint64_t offset, Value value) {
  switch (shape().operation) {
    case Operation::broadcast: return value == values_.input(shape().root, offset);
    case Operation::scatter:
    case Operation::scatter_v: return value == values_.input(shape().root, position * pitch_ + offset);
    case Operation::gather:
    case Operation::gather_v:
    case Operation::all_gather:
    case Operation::all_gather_v: return value == values_.input(block, offset);
    case Operation::all_to_all:
    case Operation::all_to_all_v: return value == values_.input(block, position * pitch_ + offset);
    case Operation::reduce: return is_result(value, shape().ranks, offset);
    case Operation::reduce_scatter: return is_result(value, shape().ranks, position * pitch_ + offset);
    case Operation::scan: return is_result(value, position + 1, offset);
    case Operation::exscan: {
      // The output of member 0 is not written: there is nothing before it.
      if (position > 0) return is_result(value, position, offset);
      return value == (case_->in_place ? values_.input(0, offset) : kUnwritten);
    }
    case Operation::all_reduce: {
      if (!is_result(value, shape().ranks, offset)) return false;
      return shape().order != coll::Order::same_everywhere || position == 0 ||
             value == area(0, coll::Space::out).cells[offset].value;
    }
    case Operation::permute:  // to the next member
      return value == values_.input((position + shape().ranks - 1) % shape().ranks, offset);
    case Operation::barrier: return false;  // it has no output
  }
  return false;
}

/// Whether the value combines byte `offset` of the first `count` members as the shape allows it.
bool Run::is_result(Value value, Rank count, std::uint64_t offset) {
  if (shape().order == coll::Order::exact) return value == values_.left_to_right(count, offset);
  return values_.is_sum(value, count, offset, shape().commutative);
}

/// The outputs of blocks that differ: each block is there, and nothing else is written.
void Run::check_blocks() {
  const CaseBlocks& blocks = *case_->blocks;
  for (Rank position = 0; position < shape().ranks; ++position) {
    const Area out = area(position, coll::Space::out);
    std::vector<Value> expected(out.count, kUnwritten);
    for (Rank from = 0; from < shape().ranks; ++from) {
      const coll::BlockAt source = blocks.sent(from, position, shape().bytes);
      const coll::BlockAt target = blocks.received(from, position, shape().bytes);
      for (std::uint64_t i = 0; i < target.bytes; ++i)
        expected[target.at + i] = values_.input(from, source.at + i);
    }
    for (std::uint64_t at = 0; at < out.count; ++at) {
      if (out.cells[at].value == expected[at]) continue;
      fail(fmt::format("member {} has a wrong byte {} in its output", position, at));
      return;
    }
  }
}

void Run::check_results() {
  if (case_->blocks != nullptr) return check_blocks();
  for (Rank position = 0; position < shape().ranks; ++position) {
    const Rank blocks = coll::blocks_out(shape(), position);
    const Area out = area(position, coll::Space::out);
    for (std::uint64_t at = 0; at < out.count; ++at) {
      const auto block = static_cast<Rank>(at / pitch_);
      const std::uint64_t offset = at % pitch_;
      const Value value = out.cells[at].value;
      if (block < blocks && offset < block_ ? !check_piece(position, block, offset, value)
                                            : value != kUnwritten) {
        fail(fmt::format("member {} has a wrong byte {} in its output", position, at * unit_));
        return;
      }
    }
  }
}

void Run::check_costs() {
  if (std::string problem = wrong_costs(*case_, verdict_.counted); !problem.empty()) fail(std::move(problem));
}

}  // namespace aqueduct::aqcheck
