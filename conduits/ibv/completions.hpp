#pragma once

#include "conduits/ibv/device_events.hpp"

namespace aqueduct::conduits::ibv {

/// What comes back from the devices: the ends of requests, messages, and datagrams of connections. Tells the inbox.
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

  /// Takes a batch. Returns how many calls it made to the inbox.
  int poll(core::Inbox& inbox) noexcept;
  /// Whether the last poll may have left some.
  bool any_left() const noexcept { return more_; }

  /// Ends all that is under way to a lost peer. Its queue pair has ended.
  int end_all_with(Link& link, core::Inbox& inbox) noexcept;

 private:
  int take(const ibv_wc& completion, core::Inbox& inbox) noexcept;
  int take_request(const ibv_wc& completion, core::Inbox& inbox) noexcept;
  int take_unordered(Link& link, std::uint32_t number, const ibv_wc& completion, core::Inbox& inbox) noexcept;
  int end_front(Link& link, Status status, core::Inbox& inbox) noexcept;
  int tell(OutstandingRequest::Kind kind, core::Token token, Status status, core::Inbox& inbox) noexcept;
  void explain(const Link& link, const OutstandingRequest& entry, const ibv_wc& completion) noexcept;

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
