#include "core/endpoint_inbox.hpp"

#include "core/endpoint_state.hpp"
#include "core/signals.hpp"

#include <utility>

namespace aqueduct::core {

void EndpointInbox::completed(Token token, Status status) noexcept {
  if (!tokens::is_operation(token)) {
    --posted_;
    if (token != tokens::kNobody) kept_packet_sent(tokens::place(token));
    return;
  }
  Op* const op = state_.ops.find(token);
  if (op == nullptr) return;
  if (op->sends != 0) {  // the conduit has read a packet's payload from the caller's buffer
    if (--op->sends == 0 && !op->reads_more) state_.ops.source_free(*op, status);
  }
  state_.ops.part_ended(*op, status);
}

void EndpointInbox::source_free(Token token) noexcept {
  if (!tokens::is_operation(token)) return;
  if (Op* const op = state_.ops.find(token)) state_.ops.source_free(*op, {});
}

void EndpointInbox::signalled(Rank, Signal signal) noexcept { raise(state_, signal); }

void EndpointInbox::lost(Rank peer) noexcept {
  const bool before = std::exchange(state_.lost_by_conduit, true);
  state_.peer_lost(peer);
  state_.lost_by_conduit = before;
}

}  // namespace aqueduct::core
