#pragma once

#include "conduits/ucx/counts.hpp"
#include "conduits/ucx/deferred_signals.hpp"
#include "core/arrivals.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Hands what arrives or ends to the layers above: at once during a poll of the owner, else at its next poll.
class Delivery {
 public:
  Delivery(std::size_t max_packet, std::size_t signal_slots, Counts& counts)
      : counts_(counts), aligned_(max_packet), deferred_signals_(signal_slots) {}

  void begin_poll(core::Inbox& inbox) noexcept {
    inbox_ = &inbox;
    calls_ = 0;
  }
  /// Returns the calls made to the inbox.
  int end_poll() noexcept {
    inbox_ = nullptr;
    return calls_;
  }
  bool is_polled() const noexcept { return inbox_ != nullptr; }
  /// Whether nothing waits for the next poll.
  bool empty() const noexcept { return arrivals_.empty() && deferred_signals_.empty(); }

  // During a poll.
  void packet(Rank from, core::Bytes packet) noexcept {
    if (reinterpret_cast<std::uintptr_t>(packet.data()) % 8 != 0) [[unlikely]] {
      std::memcpy(aligned_.data(), packet.data(), packet.size());
      packet = {aligned_.data(), packet.size()};
      ++counts_.copied;
    }
    ++calls_;
    inbox_->packet(from, packet);
  }
  void completed(core::Token token, Status status) noexcept {
    ++calls_;
    inbox_->completed(token, status);
  }
  void lost(Rank peer) noexcept {
    ++calls_;
    inbox_->lost(peer);
  }
  void deliver_packets() noexcept {
    if (!arrivals_.empty()) calls_ += arrivals_.deliver(*inbox_);
  }
  void deliver_signals() noexcept {
    if (deferred_signals_.empty()) [[likely]]
      return;
    calls_ +=
        deferred_signals_.take_all([this](Rank from, Signal signal) { inbox_->signalled(from, signal); });
  }

  // At any time.
  /// Keeps a packet for the next poll. False: there is no memory.
  bool defer_packet(Rank from, core::Bytes header, core::Bytes payload) noexcept {
    return arrivals_.add(from, header, payload);
  }
  bool has_counter(SignalSlot slot) const noexcept { return deferred_signals_.has(slot); }
  /// Keeps a signal for the next poll. False: there is no such counter.
  bool defer_signal(Rank from, Signal signal) noexcept { return deferred_signals_.add(from, signal); }
  /// Delivers a signal, or keeps it. False: it cannot be kept.
  bool signal(Rank from, Signal signal) noexcept {
    if (inbox_ == nullptr) return defer_signal(from, signal);
    ++calls_;
    inbox_->signalled(from, signal);
    return true;
  }

 private:
  Counts& counts_;
  std::vector<std::byte> aligned_;  // for packets that UCX delivers at odd addresses
  core::Inbox* inbox_ = nullptr;
  int calls_ = 0;
  core::Arrivals arrivals_;
  DeferredSignals deferred_signals_;
};

}  // namespace aqueduct::conduits::ucx
