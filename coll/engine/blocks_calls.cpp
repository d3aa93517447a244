// Calls whose blocks may differ: see BlocksMethods and docs/collectives.md.
//
// Such a call has runs of three kinds, which are opened in turn. The first run compares lengths: an all-reduce of two
// words. It tells every member whether both ends of all pairs agree, and how long the longest block is. So all members
// open the same further runs, without knowing each other's lengths: one for each piece of the longest block; or, if lengths
// differ, one in which the ends of each pair tell each other theirs, so that the log can name them. Until the first run is
// over, the calls behind this one wait for their scratch.

#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/blocks_call.hpp"
#include "coll/engine/blocks_methods.hpp"
#include "coll/engine/call_text.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace aqueduct::coll {

namespace {

constexpr core::OpKind kBlocksKind{"a collective operation"};
constexpr std::uint32_t kNotKnownYet = UINT32_MAX;
/// With the run that compares and the pass at the end they are counted in 32 bits, and kNotKnownYet is no number of runs.
constexpr std::uint64_t kMostBlockPieces = kNotKnownYet - 3;
/// A counter counts in 16 bits; the others are the mark of the call.
constexpr Rank kMostBlockMembers = 0xffff;
/// Longer than any piece: the pieces are the largest that fit twice into a bank of scratch.
constexpr std::uint64_t kNominalBlock = std::uint64_t{1} << 40;

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

/// The algorithm that moves blocks of any length.
const Algorithm& slots_of_blocks(Collective operation) noexcept {
  switch (operation) {
    case Collective::scatter_v: return kScatterVSlots;
    case Collective::gather_v: return kGatherVSlots;
    case Collective::all_gather_v: return kAllGatherVSlots;
    case Collective::permute: return kPermuteSlots;
    default: return kAllToAllVSlots;
  }
}

/// No pass before or after it: a member has the combined lengths only when all members have called.
Shape comparing_shape(Rank ranks) noexcept {
  Shape shape;
  shape.operation = Operation::all_reduce;
  shape.in = shape.out = Sync::mine;
  shape.ranks = ranks;
  shape.element = sizeof(BlockLengths);
  shape.bytes = shape.pitch = sizeof(BlockLengths);
  return shape;
}
Shape asking_shape(Rank ranks) noexcept {
  Shape shape;
  shape.operation = Operation::all_to_all_v;
  shape.in = Sync::none;
  shape.out = Sync::mine;
  shape.ranks = ranks;
  shape.bytes = shape.pitch = sizeof(PairLengths);
  return shape;
}

/// Of blocks whose longest has this length.
Shape moving_shape(Collective operation, Rank ranks, std::uint64_t longest) noexcept {
  Shape shape;
  shape.operation = operation;
  shape.in = Sync::none;
  shape.out = Sync::all;
  shape.ranks = ranks;
  shape.bytes = shape.pitch = longest;
  return shape;
}

void copy_own_block(const BlocksCall& call) noexcept {
  const std::uint64_t bytes = call.own_from.bytes;
  if (bytes == 0) return;
  const std::byte* const from = call.request.in.mine + call.own_from.at;
  std::byte* const to = call.request.out.mine + call.own_to.at;
  if (from != to) std::memmove(to, from, bytes);
}

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

/// Chooses how calls of this operation are carried out. The settings of all-reduces do not count.
Status TeamEngine::prepare_blocks(const Request& request) noexcept {
  const Collective operation = request.shape.operation;
  if (blocks_ != nullptr && piece_of_blocks(operation) != 0) return {};
  CallText text;
  add_call(text, request.description);
  if (blocks_ == nullptr) blocks_.reset(new (std::nothrow) BlocksMethods);
  if (blocks_ == nullptr) return no_memory_here();
  if (ranks_ > kMostBlockMembers) {
    state_.log.error("{} on a team of {} ranks: teams of more than {} members have none: split the team",
                     text.view(), ranks_, kMostBlockMembers);
    return ErrorCode::not_supported;
  }
  const auto no_scratch = [&] {
    state_.log.error(
        "{} on a team of {} ranks: it does not fit into the team's scratch: raise AQUEDUCT_COLL_SCRATCH or "
        "AQUEDUCT_COLL_TEAM_SCRATCH",
        text.view(), ranks_);
    return Status(ErrorCode::no_memory);
  };
  Method& comparing = blocks_->comparing;
  if (comparing.algorithm == nullptr) {
    const Shape shape = comparing_shape(ranks_);
    const Choice choice = choice_of_comparing();
    if (choice.algorithm == nullptr || choice.piece < shape.bytes) return no_scratch();
    comparing.asked = comparing.shape = comparing.run = choice.shape;
    comparing.piece = shape.bytes;
    comparing.needs =
        needs_of(request, *choice.algorithm, comparing.run, comparing.temp_at, comparing.stage_at);
    if (layout_->refusal(comparing.needs) != nullptr) return no_scratch();
    if (layout_->refusal(Schedule::needs(kAllToAllVSlots, asking_shape(ranks_))) != nullptr)
      return no_scratch();
    comparing.algorithm = choice.algorithm;
    comparing.hash = hash_of(comparing);
  }
  const Fit how =
      fit(slots_of_blocks(operation), {}, moving_shape(operation, ranks_, kNominalBlock), traits_, *layout_);
  if (how.refusal != nullptr) return no_scratch();
  piece_of_blocks(operation) = how.piece;
  return {};
}

/// Of the all-reduce of lengths, by the rules.
Choice TeamEngine::choice_of_comparing() const noexcept {
  const TableChooser rules;
  Choice choice = rules.choose(comparing_shape(ranks_), traits_without_native(), *layout_);
  choice.why = {};  // it lives as long as the rules
  return choice;
}

/// How blocks move. `longest`: bytes of the longest one. If no algorithm can move them, the choice says why.
Choice TeamEngine::choice_of_moving(Collective operation, std::uint64_t longest) const noexcept {
  return layer_.rules().choose(moving_shape(operation, ranks_, longest), traits_without_native(), *layout_);
}

std::string TeamEngine::explain_blocks(const Shape& asked) const {
  std::string text =
      fmt::format("{} of {} bytes, {} members\n", operation_word(asked.operation), asked.bytes, ranks_);
  if (ranks_ > kMostBlockMembers)
    return text + fmt::format("  none: teams of more than {} members have none\n", kMostBlockMembers);
  const ScratchLayout& layout = *layout_;
  const Choice comparing = TableChooser().choose(comparing_shape(ranks_), traits_without_native(), layout);
  const Fit slots = fit(slots_of_blocks(asked.operation), {},
                        moving_shape(asked.operation, ranks_, kNominalBlock), traits_, layout);
  if (comparing.algorithm == nullptr) return text + fmt::format("  none: {}\n", comparing.why);
  const char* const asking = layout_->refusal(Schedule::needs(kAllToAllVSlots, asking_shape(ranks_)));
  if (const char* const why = slots.refusal != nullptr ? slots.refusal : asking)
    return text + fmt::format("  none: {}\n", why);
  const Choice moving = choice_of_moving(asked.operation, asked.bytes);
  if (moving.algorithm == nullptr) return text + fmt::format("  none: {}\n", moving.why);
  const std::uint64_t pieces = asked.bytes == 0 ? 0 : (asked.bytes - 1) / moving.piece + 1;
  text += fmt::format(
      "  first all members compare the lengths: {} of {} bytes, {}\n"
      "  then {}, in {}\n",
      operation_word(Operation::all_reduce), sizeof(BlockLengths), comparing.algorithm->name,
      name_of(*moving.algorithm, moving.shape),
      pieces > 1    ? fmt::format("{} pieces of at most {} bytes", pieces, moving.piece)
      : pieces == 1 ? "one piece"
                    : "no piece");
  return text + "  No bytes move before all members have called, in every sync mode.\n";
}

std::uint64_t& TeamEngine::piece_of_blocks(Collective operation) noexcept {
  return blocks_->pieces[static_cast<std::size_t>(operation) - static_cast<std::size_t>(Collective::permute)];
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
  method->index = Collectives::index_of(algorithm);
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
  say_call(static_cast<std::uint32_t>(operation.unit >> 16));
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
  method.index = Collectives::index_of(*choice.algorithm);
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
  // Who writes to whom, as all members know it: whoever may. Of a permute that is everybody.
  const bool permutes = which == Collective::permute;
  Shape shared = shape;
  if (permutes) shared.operation = Operation::all_to_all_v;
  Senders::Ticket none;
  run.portion = scratch_->open(permutes ? kAllToAllVSlots : *method.algorithm, shared,
                               Schedule::needs(*method.algorithm, shape), none);
  shape.blocks.of = &run.blocks;
  compute_steps(run, *method.algorithm, shape);
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
