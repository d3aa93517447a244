// Operations that the team's conduit carries out by itself.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/tune/native_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

namespace aqueduct::coll {

namespace {

/// Whether the run is one that the conduit carries out. A pass before or after the pieces moves nothing.
bool is_native(const Run& run) noexcept {
  const CallRecord& operation = *run.operation;
  return operation.kind == CallRecord::Kind::call && run.bytes != 0 && operation.method().algorithm->native;
}

}  // namespace

/// The conduit that reaches all other members; null if two do. This rank itself may be served by another one: a team that has
/// a rank of each host is the business of the conduit between them.
core::Conduit* TeamEngine::one_conduit() const noexcept {
  core::Conduit* conduit = nullptr;
  for (Rank i = 0; i < ranks_; ++i) {
    if (i == position_) continue;
    core::Conduit* const its = &state_.conduit(team_.members[i]);
    if (conduit != nullptr && its != conduit) return nullptr;
    conduit = its;
  }
  return conduit;
}

void TeamEngine::make_native() {
  if (ranks_ == 1) return;
  core::Conduit* const conduit = one_conduit();
  core::NativeCollectives* const native = conduit != nullptr ? conduit->collectives() : nullptr;
  if (native == nullptr || native->offer() == 0) return;
  const auto members = team_.list();
  if (members.empty()) throw std::bad_alloc();
  native_ = native->make_team(id_, members);
  if (native_ != nullptr) native_offer_ = native->offer();
}

std::uint64_t TeamEngine::native_offer_of_all() const noexcept { return state_.collectives_of_all; }

void TeamEngine::choose_native(bool all_alike) noexcept {
  traits_.native = all_alike ? native_.get() : nullptr;
  if (all_alike) return;
  give_back_native();  // nobody has used it
  native_.reset();
  native_offer_ = 0;
}

void TeamEngine::give_back_native() noexcept {
  if (native_ != nullptr && !state_.in_child()) native_->give_back();
}

/// Whether an operation before this one has yet to be started. Members start the conduit's operations in the team's order,
/// though one may wait for its pass while a later one waits for none.
bool TeamEngine::waits_for_native(const Run& run) const noexcept {
  for (const Run* before = active_; before != &run; before = before->next) {
    if (before->native_number == 0 && is_native(*before)) return true;
  }
  return false;
}

TeamEngine::Did TeamEngine::start_native(Run& run, const Step& step) noexcept {
  if (waits_for_native(run)) return Did::waits;
  core::Op* const own = step_op(run, step);
  if (own == nullptr) return Did::no_room;
  own->ended = native_over;
  const Shape shape = shape_of(*run.operation, run.index);
  const Combiner& combiner = run.operation->call->request.combiner;
  core::NativeCall call;
  call.shape = native_shape_of(shape);
  // The modes that `refusal` was asked about: a piece has weaker ones.
  call.shape.in = run.operation->method().asked.in;
  call.shape.out = run.operation->method().asked.out;
  call.number = natives_started_ + 1;
  call.mark = static_cast<std::uint32_t>(run.operation->unit >> 16);
  call.in = blocks_in(shape, position_) != 0 ? run.in : nullptr;
  call.out = blocks_out(shape, position_) != 0 ? run.out : nullptr;
  call.combine = combiner.combine;
  call.context = combiner.context;
  const core::Post post = native_->start(call, core::OpPool::token(*own));
  if (post.kind == core::Post::Kind::retry || post.kind == core::Post::Kind::failed) {
    take_back(run, *own);
    return post.kind == core::Post::Kind::retry ? Did::no_room : outcome(run, post.why);
  }
  run.native_number = ++natives_started_;
  ++state_.moves;
  if (post.kind == core::Post::Kind::posted) ++own->parts;
  state_.ops.part_ended(*own, {});
  return Did::step;
}

/// Whether the conduit has the run's operation, and has not ended it.
bool TeamEngine::is_with_conduit(const Run& run) noexcept {
  return is_native(run) && run.native_number != 0 && run.own != 0;
}

/// The conduit's operations of cancelled calls need not end by themselves: other members may never start them.
void TeamEngine::cancel_native() noexcept {
  if (state_.in_child()) return;
  for (const Run* run = active_; run != nullptr; run = run->next) {
    if (!cancelled(*run->operation) || !is_with_conduit(*run)) continue;
    native_->cancel(run->native_number);
    return;
  }
}

void TeamEngine::describe_native(std::string& text, const Run& run) const {
  text += fmt::format(" by the conduit, whose operation {} of the team has not ended", run.native_number);
  const std::vector<Rank> missing = native_->missing(run.native_number);
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(missing.size(), kMost); ++i)
    text += fmt::format("{}{}", i == 0 ? ": it waits for rank " : ", ", missing[i]);
  if (missing.size() > kMost) text += fmt::format(" and {} more", missing.size() - kMost);
}

}  // namespace aqueduct::coll
