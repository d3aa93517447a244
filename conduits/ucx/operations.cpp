#include "conduits/ucx/operations.hpp"

#include <utility>

namespace aqueduct::conduits::ucx {

core::Post Operations::refused(const Peer& peer, Operation& operation, ucs_status_t status) noexcept {
  release(operation);
  const ErrorCode why = peers_.code_of(peer, status, "an operation");
  return why == ErrorCode::ok ? retry_of(status) : core::Post::failed(why);
}

void Operations::end(Operation& operation, Status status) noexcept {
  if (!delivery_.is_polled() && !operation.abandoned) {
    operation.outcome = status;
    operation.next = std::exchange(ended_, &operation);
    return;
  }
  const core::Token token = operation.token;
  const bool reported = operation.abandoned;
  release(operation);
  if (reported) return;
  delivery_.completed(token, status);
}

void Operations::end_puts(Operation* puts, Status status) noexcept {
  while (puts != nullptr) {
    Operation* const next = puts->next;
    end(*puts, status ? puts->outcome : status);
    puts = next;
  }
}

void Operations::report_ended() noexcept {
  for (Operation* one = std::exchange(ended_, nullptr); one != nullptr;) {
    Operation* const next = one->next;
    end(*one, one->outcome);
    one = next;
  }
}

void Operations::end_unanswered(Rank peer, Status status) noexcept {
  for (Operation& one : pool_.all()) {
    if (one.in_use && one.peer == peer && one.awaited == Operation::kAnswer) end(one, status);
  }
}

void Operations::abandon(Rank peer, Status status) noexcept {
  std::size_t abandoned = 0;
  for (Operation& one : pool_.all()) {
    if (!one.in_use || one.peer != peer) continue;
    one.abandoned = true;
    ++abandoned;
    delivery_.completed(one.token, status);
  }
  pool_.replace(abandoned);
}

void Operations::on_got(void* request, ucs_status_t status, void* user_data) {
  auto& operation = *static_cast<Operation*>(user_data);
  Operations& self = *operation.owner;
  self.ucp_.request_free(request);
  if (status != UCS_OK) operation.outcome = self.peers_.status_of(operation.peer, status);
  if (--operation.gets == 0) self.end(operation, operation.outcome);
}

void Operations::on_flushed(void* request, ucs_status_t status, void* user_data) {
  auto& first = *static_cast<Operation*>(user_data);
  Operations& self = *first.owner;
  --self.peers_[first.peer].flushes;
  self.ucp_.request_free(request);
  self.end_puts(&first, self.peers_.status_of(first.peer, status));
}

void Operations::on_put_sent(void* request, ucs_status_t status, void* user_data) {
  auto& operation = *static_cast<Operation*>(user_data);
  Operations& self = *operation.owner;
  self.ucp_.request_free(request);
  operation.awaited &= static_cast<std::uint8_t>(~Operation::kSend);
  if (status != UCS_OK || self.peers_[operation.peer].gone) {
    operation.awaited = 0;  // an answer that still arrives ends nothing
    self.end(operation, self.peers_.status_of(operation.peer, status == UCS_OK ? UCS_ERR_CANCELED : status));
  } else if (operation.awaited == 0) {
    self.end(operation, operation.outcome);
  }
}

}  // namespace aqueduct::conduits::ucx
