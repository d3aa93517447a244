#pragma once

#include "conduits/ibv/device_events.hpp"

namespace aqueduct::conduits::ibv {

/// Polls the completion queues, and passes each completion to the part that it belongs to: requests, messages,
/// connections or striped transfers. Reports to the inbox.
class Completions {
 public:
  Completions(const Environment& env, Losses& losses, const Memory& memory, Requests& requests,
              Messages& messages, Connections& connections, BouncedTransfers& bounces, Striping& striping,
              DeviceEvents& events)
      : env_(env),
        losses_(losses),
        memory_(memory),
        requests_(requests),
        messages_(messages),
        connections_(connections),
        bounced_(bounces),
        striping_(striping),
        events_(events) {}

  /// Takes one batch of completions. Returns how many calls it made to the inbox.
  int poll(core::Inbox& inbox) noexcept;
  /// Whether the last poll may have left completions in a queue.
  bool any_left() const noexcept { return more_; }

  /// Ends all operations with a lost peer. Requires: its queue pair is destroyed, so that the device uses none of their
  /// memory.
  int end_all_with(Connection& connection, core::Inbox& inbox) noexcept;

 private:
  int take(const ibv_wc& completion, core::Inbox& inbox) noexcept;
  int take_request(const ibv_wc& completion, core::Inbox& inbox) noexcept;
  int take_unordered(Connection& connection, std::uint32_t number, const ibv_wc& completion,
                     core::Inbox& inbox) noexcept;
  int end_front(Connection& connection, Status status, core::Inbox& inbox) noexcept;
  int tell(OutstandingRequest::Kind kind, core::Token token, Status status, core::Inbox& inbox) noexcept;
  void explain(const Connection& connection, const OutstandingRequest& entry,
               const ibv_wc& completion) noexcept;

  const Environment& env_;
  Losses& losses_;
  const Memory& memory_;
  Requests& requests_;
  Messages& messages_;
  Connections& connections_;
  BouncedTransfers& bounced_;
  Striping& striping_;
  DeviceEvents& events_;
  bool more_ = false;
};

}  // namespace aqueduct::conduits::ibv
