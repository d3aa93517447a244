// Barriers as calls of the engine: an all-reduce of the members' votes.

#include "coll/engine/collectives.hpp"
#include "coll/engine/start.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/tune/table.hpp"
#include "core/barrier_vote.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace aqueduct::coll {

namespace {

void merge_votes(void* to, const void* left, const void* right, std::size_t count, void*) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t votes[2];
    std::memcpy(&votes[0], static_cast<const std::byte*>(left) + i * sizeof votes[0], sizeof votes[0]);
    std::memcpy(&votes[1], static_cast<const std::byte*>(right) + i * sizeof votes[1], sizeof votes[1]);
    core::BarrierVote merged = core::BarrierVote::from_bits(votes[0]);
    merged.merge(core::BarrierVote::from_bits(votes[1]));
    const std::uint64_t bits = merged.bits();
    std::memcpy(static_cast<std::byte*>(to) + i * sizeof bits, &bits, sizeof bits);
  }
}

/// No pass before or after it: a member has the merged votes only when all members have called.
Shape shape_of_barrier(Rank ranks) noexcept {
  Shape shape;
  shape.operation = Operation::all_reduce;
  shape.in = shape.out = Sync::mine;
  shape.ranks = ranks;
  shape.element = sizeof(std::uint64_t);
  shape.bytes = shape.pitch = sizeof(std::uint64_t);
  return shape;
}

}  // namespace

/// By the rules. The settings of all-reduces do not count: with one that cannot do eight bytes, no job could end.
Choice TeamEngine::choice_of_barriers() const noexcept {
  const TableChooser rules;
  Choice choice = rules.choose(shape_of_barrier(ranks_), traits_of_barriers(), *layout_);
  choice.why = {};  // it lives as long as the rules
  return choice;
}

/// How the team's barriers are carried out. False: not by the engine. May throw std::bad_alloc.
bool TeamEngine::set_barrier(BarrierCall& made) const {
  const Shape shape = shape_of_barrier(ranks_);
  const Choice choice = choice_of_barriers();
  if (choice.algorithm == nullptr || choice.piece < shape.bytes) return false;
  Method& method = made.method;
  KnownCall& call = made.call;
  method.asked = method.shape = method.run = choice.shape;
  method.piece = shape.bytes;
  method.on_board = choice.algorithm->board != BoardMethod::none;
  if (!method.on_board)
    method.needs = needs_of(call.request, *choice.algorithm, method.run, method.temp_at, method.stage_at);
  if (layout_->refusal(method.needs) != nullptr) return false;
  method.algorithm = choice.algorithm;
  method.index = Collectives::index_of(*choice.algorithm);
  method.hash = hash_of(method);
  method.kept = true;  // it is never one of the pool
  call.request.shape = shape;
  call.request.combiner.combine = merge_votes;
  call.request.description = {};  // says barrier
  call.uses = 1;                  // likewise
  call.kept = true;
  have_method(call, &method);
  if (method.on_board && !plan_for_board(call)) throw std::bad_alloc();
  return true;
}

/// Finds out whether the engine carries out the team's barriers, which all members find out alike. May throw std::bad_alloc.
void TeamEngine::prepare_barriers() {
  BarrierCall made;
  has_barriers_ = set_barrier(made);
}

Status TeamEngine::make_barrier_call() noexcept try {
  if (const Status status = be_ready(); !status) return status;
  auto made = std::make_unique<BarrierCall>();
  if (!set_barrier(*made)) return ErrorCode::refused;
  barrier_ = std::move(made);
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

std::string TeamEngine::explain_barrier() const {
  std::string text = fmt::format("barrier, {} members\n", ranks_);
  if (ranks_ == 1) return text + "  nothing to wait for\n";
  if (!has_barriers()) return text + "  messages: dissemination, as the team has no scratch\n";
  return text + "  " + TableChooser().explain(shape_of_barrier(ranks_), traits_of_barriers(), *layout_);
}

Status TeamEngine::begin_barrier(core::Op& op, std::uint64_t& vote) noexcept {
  if (!broken_.ok()) return broken_;
  if (barrier_ == nullptr) {
    if (const Status made = make_barrier_call(); !made) return made;
  }
  KnownCall& call = barrier_->call;
  auto* const votes = reinterpret_cast<std::byte*>(&vote);
  const CallMemory memory{votes, votes};
  ++layer_.counts().operations;
  if (Run* const run = prepared_for(call)) {
    begin_again(op, call, *run, memory);
    return {};
  }
  const Status status = begin_on(op, call, memory, nullptr);
  if (!status) --layer_.counts().operations;
  return status;
}

}  // namespace aqueduct::coll
