#include "conduits/ucx/operations.hpp"

#include <utility>

namespace aqueduct::conduits::ucx {

core::Post Operations::refused(const Peer& peer, Pending& pending, ucs_status_t status) noexcept {
  give(pending);
  const ErrorCode why = peers_.code_of(peer, status, "an operation");
  return why == ErrorCode::ok ? core::Post::retry() : core::Post::failed(why);
}

void Operations::end(Pending& pending, Status status) noexcept {
  if (!delivery_.is_polled() && !pending.orphan) {
    pending.outcome = status;
    pending.next = std::exchange(ended_, &pending);
    return;
  }
  const core::Token token = pending.token;
  const bool reported = pending.orphan;
  give(pending);
  if (reported) return;
  delivery_.completed(token, status);
}

void Operations::end_puts(Pending* puts, Status status) noexcept {
  while (puts != nullptr) {
    Pending* const next = puts->next;
    end(*puts, status ? puts->outcome : status);
    puts = next;
  }
}

void Operations::report_ended() noexcept {
  for (Pending* one = std::exchange(ended_, nullptr); one != nullptr;) {
    Pending* const next = one->next;
    end(*one, one->outcome);
    one = next;
  }
}

void Operations::end_unanswered(Rank peer, Status status) noexcept {
  for (Pending& one : pool_.all()) {
    if (one.in_use && one.peer == peer && one.parts == Pending::kAnswer) end(one, status);
  }
}

void Operations::abandon(Rank peer, Status status) noexcept {
  std::size_t orphans = 0;
  for (Pending& one : pool_.all()) {
    if (!one.in_use || one.peer != peer) continue;
    one.orphan = true;
    ++orphans;
    delivery_.completed(one.token, status);
  }
  pool_.replace(orphans);
}

void Operations::on_got(void* request, ucs_status_t status, void* user_data) {
  auto& pending = *static_cast<Pending*>(user_data);
  Operations& self = *pending.owner;
  self.ucp_.request_free(request);
  if (status != UCS_OK) pending.outcome = self.peers_.status_of(pending.peer, status);
  if (--pending.gets == 0) self.end(pending, pending.outcome);
}

void Operations::on_flushed(void* request, ucs_status_t status, void* user_data) {
  auto& first = *static_cast<Pending*>(user_data);
  Operations& self = *first.owner;
  --self.peers_[first.peer].flushes;
  self.ucp_.request_free(request);
  self.end_puts(&first, self.peers_.status_of(first.peer, status));
}

void Operations::on_put_sent(void* request, ucs_status_t status, void* user_data) {
  auto& pending = *static_cast<Pending*>(user_data);
  Operations& self = *pending.owner;
  self.ucp_.request_free(request);
  pending.parts &= static_cast<std::uint8_t>(~Pending::kUcx);
  if (status != UCS_OK || self.peers_[pending.peer].gone) {
    pending.parts = 0;  // an answer that still arrives ends nothing
    self.end(pending, self.peers_.status_of(pending.peer, status == UCS_OK ? UCS_ERR_CANCELED : status));
  } else if (pending.parts == 0) {
    self.end(pending, pending.outcome);
  }
}

}  // namespace aqueduct::conduits::ucx
