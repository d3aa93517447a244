// The runs of calls whose blocks may differ: see blocks_calls.cpp.

#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/blocks_call.hpp"
#include "coll/engine/blocks_methods.hpp"
#include "coll/engine/call_text.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

/// With the run that compares and the pass at the end they are counted in 32 bits, and kNotKnownYet is no number of runs.
constexpr std::uint64_t kMostBlockPieces = kNotKnownYet - 3;

/// How many other members send something of this run to this one.
std::uint32_t count_senders(const BlocksCall& call, std::uint64_t begin) noexcept {
  return static_cast<std::uint32_t>(std::count_if(call.receives.begin(), call.receives.end(),
                                                  [&](const BlockAt& block) { return block.bytes > begin; }));
}

template <class T>
std::byte* bytes_of(T& object) noexcept {
  return reinterpret_cast<std::byte*>(&object);
}

}  // namespace

/// Goes on with a call whose turn it is to open runs. False: it waits for a run, or there is no memory now.
bool TeamEngine::open_blocks(CallRecord& operation) noexcept {
  BlocksCall& call = *operation.call->blocks;
  using Stage = BlocksCall::Stage;
  if (call.stage == Stage::comparing && operation.opened == 1) {
    if (operation.completed == 0) return false;
    if (!decide(operation)) return true;
  } else if (call.stage == Stage::asking && operation.opened == 2) {
    if (operation.completed < 2) return false;
    end_blocks(operation, differing_ends(operation));
    return true;
  }
  Run* const run = layer_.runs().take();
  if (run == nullptr) {
    no_room_ = true;
    return false;
  }
  run->operation = &operation;
  run->index = operation.opened++;
  run->begun = run->complete = run->on_board = run->serves_again = false;
  run->looks = run->own = run->ended = run->failures = 0;
  run->shift = 0;
  run->sources.kind = &core::kSource;
  run->sources.pool = &state_.ops;
  run->sources.parts = 1;
  run->sources.outcome = {};
  switch (call.stage) {
    case Stage::comparing: open_comparing(*run, call); break;
    case Stage::asking: open_asking(*run, call); break;
    case Stage::moving:
      open_moving(*run, call);
      if (operation.opened == operation.method().runs) opening_ = operation.next;
      break;
  }
  held_ = run;
  return true;
}

/// Chooses how the call moves its blocks. `longest`: bytes of the longest one. False: no algorithm can, and the call has ended.
bool TeamEngine::choose_moving(CallRecord& operation, std::uint64_t longest) noexcept {
  const Collective which = operation.call->request.shape.operation;
  BlocksMethods::Moved& last =
      blocks_->moved[static_cast<std::size_t>(which) - static_cast<std::size_t>(Collective::permute)];
  if (last.longest != longest) {
    last.choice = choice_of_moving(which, longest);
    last.longest = longest;
  }
  const Choice& choice = last.choice;
  if (choice.algorithm == nullptr) {
    CallText text;
    add_call(text, operation.call->request.description);
    state_.log.error("{} on a team of {} ranks: {}", text.view(), ranks_, choice.why);
    last.longest = 0;
    end_blocks(operation, choice.no_memory ? ErrorCode::no_memory : ErrorCode::invalid_argument);
    return false;
  }
  Method& method = *operation.call->method;
  method.algorithm = choice.algorithm;
  method.shape.parameters = choice.shape.parameters;
  method.piece = choice.piece;
  method.index = layer_.index_of(*choice.algorithm);
  layer_.count(method.index);
  return true;
}

/// All members know the combined lengths, and go on alike. False: the call has ended.
bool TeamEngine::decide(CallRecord& operation) noexcept {
  BlocksCall& call = *operation.call->blocks;
  Method& method = *operation.call->method;
  if (call.all.difference != 0 || call.all.longest == 0) layer_.count(method.index);  // nothing is chosen
  if (call.all.difference != 0) {
    call.stage = BlocksCall::Stage::asking;
    return true;
  }
  const std::uint64_t longest = call.all.longest;
  if (longest != 0 && !choose_moving(operation, longest)) return false;
  const std::uint64_t pieces = longest == 0 ? 0 : (longest - 1) / method.piece + 1;
  if (pieces > kMostBlockPieces) {
    CallText text;
    add_call(text, operation.call->request.description);
    state_.log.error(
        "{} on a team of {} ranks: its longest block has {} bytes, which are more than {} pieces of {}: send "
        "shorter blocks, or raise AQUEDUCT_COLL_SCRATCH or AQUEDUCT_COLL_TEAM_SCRATCH",
        text.view(), ranks_, longest, kMostBlockPieces, method.piece);
    end_blocks(operation, ErrorCode::too_large);
    return false;
  }
  copy_own_block(call);
  // A single piece has the pass at the end in its own run. Without pieces others may still have to copy their own blocks.
  method.after = pieces != 1 && call.request.shape.out == Sync::all;
  if (pieces == 0 && !method.after) {
    end_blocks(operation, {});
    return false;
  }
  call.stage = BlocksCall::Stage::moving;
  method.runs = static_cast<std::uint32_t>(1 + pieces) + (method.after ? 1 : 0);
  return true;
}

void TeamEngine::open_comparing(Run& run, BlocksCall& call) noexcept {
  Method& method = blocks_->comparing;
  run.temp_at = method.temp_at;
  run.stage_at = method.stage_at;
  run.element = method.run.element;
  run.bytes = method.run.bytes;
  run.in = bytes_of(call.mine);
  run.out = bytes_of(call.all);
  run.portion = scratch_->open(*method.algorithm, method.run, method.needs, method.ticket);
  compute_steps(run, *method.algorithm, method.run);
}

void TeamEngine::open_asking(Run& run, BlocksCall& call) noexcept {
  const bool permutes = call.to != kNoRank;
  for (Rank i = 0; i < ranks_; ++i) {
    PairLengths& pair = call.told[i];
    if (permutes) {
      // One more than the bytes: 0 is no block.
      pair = {i == call.to ? call.sends.front().bytes + 1 : 0, call.from == kNoRank ? kAnyLength
                                                               : i == call.from
                                                                   ? call.receives.front().bytes + 1
                                                                   : 0};
    } else {
      pair = {call.sends[i].bytes, call.receives[i].bytes};
    }
  }
  const Shape shape = asking_shape(ranks_);
  Senders::Ticket none;
  run.temp_at = run.stage_at = 0;
  run.element = shape.element;
  run.bytes = shape.bytes;
  run.in = bytes_of(call.told.front());
  run.out = bytes_of(call.heard.front());
  run.portion = scratch_->open(kAllToAllVSlots, shape, Schedule::needs(kAllToAllVSlots, shape), none);
  compute_steps(run, kAllToAllVSlots, shape);
}

/// Opens the run of a piece, or the pass at the end.
void TeamEngine::open_moving(Run& run, BlocksCall& call) noexcept {
  const Method& method = run.operation->method();
  Shape shape = call.request.shape;
  const Collective which = shape.operation;
  const bool last = method.after && run.index + 1 == method.runs;
  const std::uint64_t begin = last ? 0 : (run.index - 1) * method.piece;
  shape.in = Sync::none;
  shape.few_signals = traits_.few_signals();
  shape.parameters = method.shape.parameters;
  if (method.after && !last) shape.out = Sync::mine;
  shape.bytes = last ? 0 : std::min(method.piece, call.all.longest - begin);
  shape.pitch = shape.bytes;
  run.temp_at = run.stage_at = 0;
  run.element = 1;
  run.bytes = shape.bytes;
  run.in = call.request.in.mine;
  run.out = call.request.out.mine;
  run.blocks = {.sends = call.sends.data(),
                .receives = call.receives.data(),
                .to = call.to,
                .begin = begin,
                .senders = count_senders(call, begin)};
  // Which members may write to which, as all members know it. Of a permute all may write to all.
  const bool permutes = which == Collective::permute;
  Shape shared = shape;
  if (permutes) shared.operation = Operation::all_to_all_v;
  Senders::Ticket none;
  run.portion = scratch_->open(permutes ? kAllToAllVSlots : *method.algorithm, shared,
                               Schedule::needs(*method.algorithm, shape), none);
  shape.blocks.of = &run.blocks;
  compute_steps(run, *method.algorithm, shape);
}

}  // namespace aqueduct::coll
