#pragma once

#include "core/conduit.hpp"
#include "core/tokens.hpp"

#include <cstdint>

namespace aqueduct::detail {
struct EndpointState;
}

namespace aqueduct::core {

/// The inbox of an endpoint's conduits. Completions end parts of operations, signals raise counters, losses go to
/// EndpointState::peer_lost. Packets are active messages, so am::Messages implements `packet`.
class EndpointInbox : public Inbox {
 public:
  explicit EndpointInbox(aqueduct::detail::EndpointState& state) noexcept : state_(state) {}
  EndpointInbox(const EndpointInbox&) = delete;
  EndpointInbox& operator=(const EndpointInbox&) = delete;

  void completed(Token token, Status status) noexcept final;
  void source_free(Token token) noexcept final;
  void signalled(Rank from, Signal signal) noexcept final;
  void lost(Rank peer) noexcept final;

 protected:
  ~EndpointInbox() = default;

  /// A conduit no longer reads the kept packet number `place`, whose token is tokens::of_kept(place).
  virtual void kept_packet_sent(std::uint32_t place) noexcept = 0;
  /// Called for each packet for which `send` answered posted. Counts it if no operation waits for its completion, so
  /// that a job's end can wait until all packets have left.
  void count_posted(Token token) noexcept {
    if (!tokens::is_operation(token)) [[unlikely]]
      ++posted_;
  }
  /// Whether all packets that `count_posted` counted have completed.
  bool none_posted() const noexcept { return posted_ == 0; }

  aqueduct::detail::EndpointState& state_;

 private:
  std::uint64_t posted_ = 0;
};

}  // namespace aqueduct::core
