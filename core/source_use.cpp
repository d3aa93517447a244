#include "core/source_use.hpp"

#include "core/wait.hpp"

#include <utility>

namespace aqueduct::core {

Status SourceUse::take(EndpointState& state, Rank peer, Event* event, bool immediate) noexcept {
  if (event != nullptr) op_ = state.ops.acquire(kSource, peer, true);
  event_ = op_ != nullptr ? event : nullptr;
  if (op_ != nullptr) return {};
  const auto acquired = [&] { return (op_ = state.ops.acquire(kSource, peer, false)) != nullptr; };
  if (acquired()) return {};
  if (immediate) return {ErrorCode::refused, peer};
  return wait_until(state, acquired, peer,
                    [] { return std::string("a free operation (AQUEDUCT_OPERATIONS)"); });
}

void SourceUse::give_up(EndpointState& state, Status why) noexcept {
  Op* const op = std::exchange(op_, nullptr);
  if (op == nullptr) return;
  state.ops.part_ended(*op, why);
  static_cast<void>(state.ops.collect(*op));
}

Status SourceUse::hand_over(EndpointState& state) noexcept {
  Event free(std::exchange(op_, nullptr));
  if (event_ == nullptr) return wait(state, free);
  *event_ = std::move(free);
  return {};
}

}  // namespace aqueduct::core
