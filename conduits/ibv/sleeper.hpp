#pragma once

#include "conduits/ibv/completions.hpp"
#include "core/to_self.hpp"

#include <chrono>

namespace aqueduct::conduits::ibv {

/// Sleeps until something completes: on the descriptor of the completion channel or, with several ports, on one that
/// watches all their channels.
class Sleeper final : public core::Waitable {
 public:
  Sleeper(const Environment& env, const core::ToSelf& to_self, const Requests& requests,
          const Credits& credits, const Losses& losses, const Connections& connections, const Rails& rails,
          const Striping& striping, const Completions& completions)
      : env_(env),
        to_self_(to_self),
        requests_(requests),
        credits_(credits),
        losses_(losses),
        connections_(connections),
        rails_(rails),
        striping_(striping),
        completions_(completions) {}

  void arm() noexcept override;
  void disarm() noexcept override { disarmed_ = true; }
  void sleep(std::chrono::nanoseconds limit) noexcept override;
  std::chrono::nanoseconds within() const noexcept override;
  int descriptor() const noexcept override;

  /// Whether the channel may have events.
  bool looks() const noexcept { return look_at_channel_; }
  /// Called in each poll: takes the channel's events.
  void look() noexcept {
    if (look_at_channel_) [[unlikely]]
      empty_channel();
  }

 private:
  void empty_channel() noexcept;

  const Environment& env_;
  const core::ToSelf& to_self_;
  const Requests& requests_;
  const Credits& credits_;
  const Losses& losses_;
  const Connections& connections_;
  const Rails& rails_;
  const Striping& striping_;
  const Completions& completions_;
  bool look_at_channel_ = false;
  bool disarmed_ = true;
};

}  // namespace aqueduct::conduits::ibv
