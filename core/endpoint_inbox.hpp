#pragma once

#include "core/conduit.hpp"
#include "core/tokens.hpp"

#include <cstdint>

namespace aqueduct::detail {
struct EndpointState;
}

namespace aqueduct::core {

/// Sorts what the conduits of an endpoint deliver: completions go to the operations that wait for them, signals to the
/// counters, losses to everybody. Packets are the message layer's, which completes this class.
class EndpointInbox : public Inbox {
 public:
  explicit EndpointInbox(aqueduct::detail::EndpointState& state) noexcept : state_(state) {}
  EndpointInbox(const EndpointInbox&) = delete;
  EndpointInbox& operator=(const EndpointInbox&) = delete;

  void completed(Token token, Status status) noexcept final;
  void signalled(Rank from, Signal signal) noexcept final;
  void lost(Rank peer) noexcept final;

 protected:
  ~EndpointInbox() = default;

  /// A conduit no longer reads the packet in that place, posted under tokens::of_kept(place).
  virtual void kept_packet_sent(std::uint32_t place) noexcept = 0;
  /// Counts a packet that a conduit holds (`posted`) and that no operation waits for.
  void count_posted(Token token) noexcept {
    if (!tokens::is_operation(token)) [[unlikely]]
      ++posted_;
  }
  /// Whether the conduits hold no such packet.
  bool none_posted() const noexcept { return posted_ == 0; }

  aqueduct::detail::EndpointState& state_;

 private:
  std::uint64_t posted_ = 0;
};

}  // namespace aqueduct::core
