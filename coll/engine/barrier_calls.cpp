// Barriers as calls of the engine: an all-reduce of the members' votes.

#include "coll/engine/collectives.hpp"
#include "coll/engine/start.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/tune/barrier_shape.hpp"
#include "core/barrier_vote.hpp"

#include <cstring>
#include <memory>
#include <new>
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

}  // namespace

/// How the team's barriers are carried out. False: not so. May throw std::bad_alloc.
bool TeamEngine::set_barrier(BarrierCall& made, const Choice& choice) const {
  const Shape shape = barrier_shape(ranks_);
  if (choice.algorithm == nullptr || choice.piece < shape.bytes) return false;
  Method& method = made.method;
  KnownCall& call = made.call;
  method.asked = method.shape = method.run = choice.shape;
  method.piece = shape.bytes;
  method.on_board = choice.algorithm->board != BoardMethod::none;
  if (!method.on_board)
    method.needs = needs_of(call.request, *choice.algorithm, method.run, method.temp_at, method.stage_at);
  if (layout_->refusal(method.needs) != nullptr) return false;
  // All members look at all of them, and so find out alike.
  for (Rank position = 0; position < ranks_ && choice.algorithm->added != nullptr; ++position) {
    const std::string wrong = wrong_steps(*choice.algorithm, method.run, position);
    if (wrong.empty()) continue;
    state_.log.error(
        "barrier of a team of {} ranks: the program's algorithm {} is wrong, and another one is taken: {}",
        ranks_, choice.algorithm->name, wrong);
    return false;
  }
  method.algorithm = choice.algorithm;
  method.index = layer_.index_of(*choice.algorithm);
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
///
/// What the rules choose can always run. So this asks nothing else: the first choice by a model may take long, and is made for
/// the first barrier.
void TeamEngine::prepare_barriers() {
  BarrierCall made;
  has_barriers_ = set_barrier(made, usual_choice_of_barriers());
}

/// Chooses how the next barriers are carried out. Those in flight go on as they began: their calls stay until the team ends.
/// Errors: no_memory, refused.
Status TeamEngine::choose_barrier() noexcept try {
  if (const Status status = be_ready(); !status) return status;
  const Choice choice = choice_of_barriers();
  if (choice.algorithm == nullptr) return choice.no_memory ? ErrorCode::no_memory : ErrorCode::refused;
  for (const std::unique_ptr<BarrierCall>& one : barriers_) {
    if (one->method.algorithm != choice.algorithm || one->method.run != choice.shape) continue;
    barrier_ = one.get();
    return {};
  }
  tell_of_other_barrier();
  barriers_.reserve(barriers_.size() + 1);
  auto made = std::make_unique<BarrierCall>();
  if (!set_barrier(*made, choice) && !set_barrier(*made, usual_choice_of_barriers()))
    return ErrorCode::refused;
  barrier_ = barriers_.emplace_back(std::move(made)).get();
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

/// The setting for barriers asks for something that this team cannot do: the first such team is named.
void TeamEngine::tell_of_other_barrier() {
  const char* const why = layer_.rules().why_barrier_differs(traits_of_barriers(), *layout_);
  if (why == nullptr || !layer_.tells_of_barrier()) return;
  state_.log.warn(
      "AQUEDUCT_COLL_BARRIER={}: a team of {} ranks cannot follow it ({}), so its barriers are chosen as "
      "without it; other teams are not reported",
      state_.config.text("coll_barrier"), ranks_, why);
}

Status TeamEngine::begin_barrier(core::Op& op, std::uint64_t& vote) noexcept {
  end_doubt();
  if (!broken_.ok()) return broken_;
  if (barrier_ == nullptr) {
    if (const Status made = choose_barrier(); !made) return made;
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
