// How calls whose blocks may differ are carried out, as all members choose it.

#include "coll/engine/blocks_methods.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/blocks_call.hpp"
#include "coll/engine/call_text.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"

#include <new>
#include <string>

namespace aqueduct::coll {

namespace {

/// A counter counts in 16 bits; the others are the mark of the call.
constexpr Rank kMostBlockMembers = 0xffff;
/// Longer than any piece: the pieces are the largest that fit twice into a bank of scratch.
constexpr std::uint64_t kNominalBlock = std::uint64_t{1} << 40;

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

}  // namespace

const Algorithm& slots_of_blocks(Collective operation) noexcept {
  switch (operation) {
    case Collective::scatter_v: return kScatterVSlots;
    case Collective::gather_v: return kGatherVSlots;
    case Collective::all_gather_v: return kAllGatherVSlots;
    case Collective::permute: return kPermuteSlots;
    default: return kAllToAllVSlots;
  }
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
Choice TeamChoices::choice_of_comparing() const noexcept {
  const TableChooser rules;
  Choice choice = rules.choose(comparing_shape(ranks_), traits_without_native(), *layout_);
  choice.why = {};  // it lives as long as the rules
  return choice;
}

/// How blocks move. `longest`: bytes of the longest one. If no algorithm can move them, the choice says why.
Choice TeamChoices::choice_of_moving(Collective operation, std::uint64_t longest) const noexcept {
  return layer_.rules().choose(moving_shape(operation, ranks_, longest), traits_without_native(), *layout_);
}

std::string TeamChoices::explain_blocks(const Shape& asked) const {
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

}  // namespace aqueduct::coll
