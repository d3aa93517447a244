#include "conduits/ibv/completions.hpp"

#include "conduits/ibv/errors.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: completions that one poll takes, so that the caller gets its turn.
constexpr std::size_t kBatch = 16;

const char* name_of(OutstandingRequest::Kind kind) {
  switch (kind) {
    case OutstandingRequest::Kind::own: return "a write of the conduit's own";
    case OutstandingRequest::Kind::packet: return "a message";
    case OutstandingRequest::Kind::part:
    case OutstandingRequest::Kind::put: return "a put";
    case OutstandingRequest::Kind::get: return "a get";
    case OutstandingRequest::Kind::share: return "a share of a large transfer";
    case OutstandingRequest::Kind::atomic: return "an atomic";
  }
  return "?";
}

}  // namespace

int Completions::poll(core::Inbox& inbox) noexcept {
  int calls = 0;
  std::array<ibv_wc, kBatch> batch;
  const int found =
      losses_.is_broken() ? 0 : ::ibv_poll_cq(env_.objects.queue.get(), int{kBatch}, batch.data());
  for (int i = 0; i < found; ++i) calls += take(batch[static_cast<std::size_t>(i)], inbox);
  more_ = found == int{kBatch};
  calls += striping_.poll(inbox, more_);
  if (found < 0) [[unlikely]]
    losses_.give_up("its completion queue fails");
  return calls;
}

int Completions::end_all_with(Connection& connection, core::Inbox& inbox) noexcept {
  const Status status = losses_.status_of(connection.peer);
  int calls = 0;
  while (connection.outstanding.count() > 0) calls += end_front(connection, status, inbox);
  while (const std::optional<BouncedTransfer> one = bounced_.take(connection.peer)) {
    if (one->token) calls += tell(one->ends, *one->token, status, inbox);
  }
  return calls + striping_.end_all_with(connection.peer, inbox);
}

int Completions::take(const ibv_wc& completion, core::Inbox& inbox) noexcept {
  const std::uint64_t index = WorkId::index(completion.wr_id);
  switch (WorkId::kind(completion.wr_id)) {
    case WorkId::Kind::request: return take_request(completion, inbox);
    case WorkId::Kind::receive:
      return messages_.take(connections_.find_by_pair(completion.qp_num), completion, inbox);
    case WorkId::Kind::datagram_send: connections_.take_sent(index, completion); return 0;
    case WorkId::Kind::datagram_receive: connections_.take_received(index, completion); return 0;
  }
  return 0;
}

int Completions::end_front(Connection& connection, Status status, core::Inbox& inbox) noexcept {
  const OutstandingRequest entry = requests_.end_front(connection, status);
  return tell(entry.kind, entry.token, status, inbox);
}

int Completions::tell(OutstandingRequest::Kind kind, core::Token token, Status status,
                      core::Inbox& inbox) noexcept {
  if (kind < OutstandingRequest::Kind::put) {
    if (kind != OutstandingRequest::Kind::share) return 0;
    return striping_.end(token, status, inbox);
  }
  inbox.completed(token, status);
  return 1;
}

// A failed request ends the queue pair and all outstanding requests to that peer. Messages that the peer waits for may
// be among them, so the peer is lost, whatever the reason was.
void Completions::explain(const Connection& connection, const OutstandingRequest& entry,
                          const ibv_wc& completion) noexcept {
  const char* const text = env_.verbs.wc_status_str(completion.status);
  // So siw reports a connection that the peer's end has broken.
  const bool broken = !env_.sizes().confirms && completion.status == IBV_WC_LOC_QP_OP_ERR;
  if (!broken && code_of(completion.status) != ErrorCode::peer_lost) {
    if (entry.kind >= OutstandingRequest::Kind::part) {
      const Key& key = memory_.remote(entry.key);
      env_.log.error(
          "ibv: rank {}: {} of {} bytes failed, rank {}, segment {}, offset {}, key {:#x}: {} ({:#x}). {}",
          env_.me, name_of(entry.kind), entry.bytes, connection.peer, key.id, entry.offset, key.key, text,
          completion.vendor_err, advice_for(completion.status));
    } else {
      env_.log.error("ibv: rank {}: {} to rank {} failed: {} ({:#x}). {}", env_.me, name_of(entry.kind),
                     connection.peer, text, completion.vendor_err, advice_for(completion.status));
    }
  } else if (completion.status != IBV_WC_WR_FLUSH_ERR && !losses_.is_suspected(connection.peer)) {
    env_.log.info("ibv: rank {}: rank {}: {}: {}", env_.me, connection.peer, text,
                  advice_for(completion.status));
  }
  events_.take();  // they may name the cause
  losses_.suspect(connection.peer, text);
}

// Requests end in order, so a completion also ends all unsignaled requests before it.
int Completions::take_request(const ibv_wc& completion, core::Inbox& inbox) noexcept {
  Connection* const connection = connections_.find_by_request(completion.wr_id);
  const std::uint32_t number = WorkId::number(completion.wr_id);
  if (connection == nullptr || connection->pair == nullptr || !connection->outstanding.has(number))
    return 0;  // of a peer that was lost meanwhile
  if (!env_.sizes().in_order) [[unlikely]]
    return take_unordered(*connection, number, completion, inbox);
  int calls = 0;
  while (connection->outstanding.oldest() != number) calls += end_front(*connection, {}, inbox);
  if (completion.status == IBV_WC_SUCCESS) [[likely]]
    return calls + end_front(*connection, {}, inbox);
  explain(*connection, connection->outstanding.front(), completion);
  return calls + end_front(*connection, {code_of(completion.status), connection->peer}, inbox);
}

// For devices on which reads may end after later requests.
int Completions::take_unordered(Connection& connection, std::uint32_t number, const ibv_wc& completion,
                                core::Inbox& inbox) noexcept {
  if (completion.status != IBV_WC_SUCCESS) {  // the loss of the peer ends them all
    explain(connection, connection.outstanding[number], completion);
    return 0;
  }
  if (connection.outstanding[number].reads) connection.answered = true;
  connection.outstanding.note_end(number);
  int calls = 0;
  while (connection.outstanding.front_ended()) calls += end_front(connection, {}, inbox);
  return calls;
}

}  // namespace aqueduct::conduits::ibv
