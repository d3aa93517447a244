// Calls whose blocks may differ: see BlocksMethods and docs/collectives/blocks.md.
//
// Such a call has runs of three kinds, which are opened in turn. The first run compares lengths: an all-reduce of two
// words. It tells every member whether both ends of all pairs agree, and how long the longest block is. So all members
// open the same further runs, without knowing each other's lengths: one for each piece of the longest block; or, if lengths
// differ, one in which the ends of each pair tell each other theirs, so that the log can name them. Until the first run is
// over, the calls behind this one wait for their scratch.

#include "coll/engine/blocks_call.hpp"
#include "coll/engine/blocks_methods.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace aqueduct::coll {

namespace {

constexpr core::OpKind kBlocksKind{"a collective operation"};

void combine_lengths(void* to, const void* left, const void* right, std::size_t count, void*) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    BlockLengths a, b;
    std::memcpy(&a, static_cast<const std::byte*>(left) + i * sizeof a, sizeof a);
    std::memcpy(&b, static_cast<const std::byte*>(right) + i * sizeof b, sizeof b);
    a.difference += b.difference;
    a.longest = std::max(a.longest, b.longest);
    std::memcpy(static_cast<std::byte*>(to) + i * sizeof a, &a, sizeof a);
  }
}

}  // namespace

void copy_own_block(const BlocksCall& call) noexcept {
  const std::uint64_t bytes = call.own_from.bytes;
  if (bytes == 0) return;
  const std::byte* const from = call.request.in.mine + call.own_from.at;
  std::byte* const to = call.request.out.mine + call.own_to.at;
  if (from != to) std::memmove(to, from, bytes);
}

/// What calls and plans name of a call whose blocks may differ. The caller gives it up. Takes `blocks`, also on failure.
Result<KnownCall*> TeamEngine::know(BlocksCall& blocks) noexcept {
  Status status;
  if (ranks_ > 1 && !layout_) {
    log_no_scratch(blocks.request);
    status = ErrorCode::no_memory;
  } else if (ranks_ > 1) {
    status = be_ready() ? prepare_blocks(blocks.request) : no_memory_here();
  }
  KnownCall* const call = status ? layer_.known_calls().take() : nullptr;
  if (call == nullptr) {
    give_back_unused(blocks);
    return status ? no_memory_here() : status;
  }
  ++blocks.uses;
  call->blocks = &blocks;
  call->method = nullptr;
  call->prepared = nullptr;
  call->uses = 1;
  call->kept = call->noted_here = false;
  call->request = blocks.request;
  if (ranks_ == 1) return call;
  const auto piece = static_cast<std::uint32_t>(piece_of_blocks(blocks.request.shape.operation));
  call->request.combiner.combine = combine_lengths;
  call->request.description.algorithm = (blocks_->comparing.hash + piece) | 1u;
  call->digest = digest_of(call->request.description);
  return call;
}

/// Of a plan that has other uses it stays the plan's.
void TeamEngine::give_back_unused(BlocksCall& blocks) noexcept {
  if (blocks.uses == 0) layer_.blocks_calls().give_back(blocks);
}

/// The method of one call: how many runs it has shows when the lengths have been compared. Null: there is no memory.
Method* TeamEngine::method_of_one(Collective operation) noexcept {
  Method* const method = layer_.methods().take();
  if (method == nullptr) return nullptr;
  const Algorithm& algorithm = slots_of_blocks(operation);
  method->algorithm = &algorithm;
  method->on_board = false;
  method->index = layer_.index_of(algorithm);
  method->shape = {};
  method->piece = piece_of_blocks(operation);
  method->runs = kNotKnownYet;
  method->before = method->after = method->wide = method->kept = false;
  method->uses = 1;
  return method;
}

/// Begins a call, or one of the starts of a plan. Takes `blocks`, also on failure.
Event TeamEngine::begin_blocks(BlocksCall& blocks, bool blocking, Plan* plan) noexcept {
  if (!broken_.ok() || ranks_ == 1) {
    if (broken_.ok()) copy_own_block(blocks);
    give_back_unused(blocks);
    return broken_.ok() ? Event() : Event(broken_);
  }
  const CallDescription asked = blocks.request.description;
  const auto known = know(blocks);
  if (!known) {
    refuse(refused_call(asked, known.status().code()), known.status());
    return Event(known.status());
  }
  KnownCall& call = **known;
  Method* const method = call.method = method_of_one(asked.operation);
  CallRecord* const record = layer_.operations().take();
  core::Op* op = state_.ops.acquire(kBlocksKind, kNoRank, true);
  if (op == nullptr && blocking) op = state_.ops.acquire(kBlocksKind, kNoRank, false);
  Status status =
      method != nullptr && record != nullptr && op != nullptr ? Status() : Status(ErrorCode::refused);
  if (status) status = note(call.request.description);
  if (!status) {
    if (record != nullptr) layer_.operations().give_back(*record);
    if (op != nullptr) state_.ops.take_back(*op);
    give_up(call);
    return Event(status);
  }
  blocks.stage = BlocksCall::Stage::comparing;
  CallRecord& operation = *record;
  operation.kind = CallRecord::Kind::blocks;
  operation.op = op;
  operation.plan = plan;
  operation.call = &call;  // the caller's use
  operation.memory = {};   // its runs find their memory by themselves
  operation.number = calls();
  operation.unit = unit_of(operation.number, call);
  say_call_off_board(static_cast<std::uint32_t>(operation.unit >> 16));
  operation.opened = operation.completed = operation.drained = 0;
  if (plan != nullptr) {
    plan->obstacles.add(Plan::kRuns);
    ++plan->held;
  }
  Event event(op);
  enqueue(operation);
  if (opening_ == nullptr) opening_ = &operation;
  if (first_ == &operation) {
    static_cast<void>(advance());
  } else {
    newest_ = nullptr;
    pump();
    if (newest_ != nullptr) look(*newest_);
  }
  layer_.look_busy(*this);
  return event;
}

/// The call has opened all its runs, and has ended. Requires: its runs are complete.
void TeamEngine::end_blocks(CallRecord& operation, Status outcome) noexcept {
  operation.call->method->runs = operation.opened;
  opening_ = operation.next;
  if (operation.drained != operation.opened) return over(operation, outcome);
  // Its runs are gone, so the record goes too; before the caller's operation ends, which may begin others.
  core::Op* const op = std::exchange(operation.op, nullptr);
  const std::uint64_t number = operation.number;
  const Sync out = operation.call->request.description.out;
  over(operation, outcome);
  forget(operation);
  if (op != nullptr) end(*op, number, out, outcome);
}

}  // namespace aqueduct::coll
