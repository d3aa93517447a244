#include "core/source_use.hpp"

#include "core/refuse.hpp"
#include "core/wait.hpp"

#include <utility>

namespace aqueduct::core {

Status SourceUse::take(EndpointState& state, Rank peer, Event* event, bool immediate,
                       GroupRecord* group) noexcept {
  if (event != nullptr) op_ = state.ops.acquire(kSource, peer, true);
  event_ = op_ != nullptr ? event : nullptr;
  if (op_ != nullptr) return {};
  const auto acquired = [&] { return (op_ = state.ops.acquire(kSource, peer, false)) != nullptr; };
  if (!acquired()) {
    if (immediate) return {ErrorCode::refused, peer};
    if (!state.ops.has_internal()) [[unlikely]]
      return refuse_without_records(state, peer);
    const Status status = wait_for_room(state, acquired, peer,
                                        [] { return std::string("a free operation (AQUEDUCT_OPERATIONS)"); });
    if (!status) return status;
  }
  if (group == nullptr || event != nullptr) return {};
  grouped_ = true;
  op_->group = &group->all;
  op_->source = &group->source;
  ++group->all.parts;
  ++group->source.parts;
  return {};
}

void SourceUse::give_up(EndpointState& state, Status why) noexcept {
  Op* const op = std::exchange(op_, nullptr);
  if (op == nullptr) return;
  if (grouped_) {
    --std::exchange(op->group, nullptr)->parts;
    --std::exchange(op->source, nullptr)->parts;
  }
  state.ops.part_ended(*op, why);
  static_cast<void>(state.ops.collect(*op));
}

Status SourceUse::hand_over(EndpointState& state) noexcept {
  if (grouped_) {
    op_ = nullptr;
    return {};
  }
  Event free(std::exchange(op_, nullptr));
  if (event_ == nullptr) return wait_to_the_end(state, free);
  *event_ = std::move(free);
  return {};
}

}  // namespace aqueduct::core
