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

int Completions::end_all_with(Link& link, core::Inbox& inbox) noexcept {
  const Status status = losses_.status_of(link.peer);
  int calls = 0;
  while (link.outstanding.count() > 0) calls += end_front(link, status, inbox);
  while (const std::optional<BouncedTransfer> one = bounced_.take(link.peer)) {
    if (one->token) calls += tell(one->ends, *one->token, status, inbox);
  }
  return calls + striping_.end_all_with(link.peer, inbox);
}

int Completions::take(const ibv_wc& completion, core::Inbox& inbox) noexcept {
  const std::uint64_t index = WorkId::index(completion.wr_id);
  switch (WorkId::kind(completion.wr_id)) {
    case WorkId::Kind::request: return take_request(completion, inbox);
    case WorkId::Kind::receive:
      return messages_.take(connections_.find_by_pair(completion.qp_num), completion, inbox);
    case WorkId::Kind::datagram_send: connections_.take_sent(index); return 0;
    case WorkId::Kind::datagram_receive: connections_.take_received(index, completion); return 0;
  }
  return 0;
}

int Completions::end_front(Link& link, Status status, core::Inbox& inbox) noexcept {
  const OutstandingRequest entry = requests_.end_front(link, status);
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
void Completions::explain(const Link& link, const OutstandingRequest& entry,
                          const ibv_wc& completion) noexcept {
  const char* const text = env_.verbs.wc_status_str(completion.status);
  if (code_of(completion.status) != ErrorCode::peer_lost) {
    if (entry.kind >= OutstandingRequest::Kind::part) {
      const Key& key = memory_.remote(entry.key);
      env_.log.error(
          "ibv: rank {}: {} of {} bytes failed, rank {}, segment {}, offset {}, key {:#x}: {} ({:#x}). {}",
          env_.me, name_of(entry.kind), entry.bytes, link.peer, key.id, entry.offset, key.key, text,
          completion.vendor_err, advice_for(completion.status));
    } else {
      env_.log.error("ibv: rank {}: {} to rank {} failed: {} ({:#x}). {}", env_.me, name_of(entry.kind),
                     link.peer, text, completion.vendor_err, advice_for(completion.status));
    }
  } else if (completion.status != IBV_WC_WR_FLUSH_ERR && !losses_.is_suspected(link.peer)) {
    env_.log.info("ibv: rank {}: rank {}: {}: {}", env_.me, link.peer, text, advice_for(completion.status));
  }
  events_.take();  // they may name the cause
  losses_.suspect(link.peer, text);
}

// Requests end in order, so a completion also ends all unsignaled requests before it.
int Completions::take_request(const ibv_wc& completion, core::Inbox& inbox) noexcept {
  Link* const link = connections_.find_by_request(completion.wr_id);
  const std::uint32_t number = WorkId::number(completion.wr_id);
  if (link == nullptr || link->pair == nullptr || !link->outstanding.has(number))
    return 0;  // of a peer that was lost meanwhile
  if (!env_.sizes().in_order) [[unlikely]]
    return take_unordered(*link, number, completion, inbox);
  int calls = 0;
  while (link->outstanding.oldest() != number) calls += end_front(*link, {}, inbox);
  if (completion.status == IBV_WC_SUCCESS) [[likely]]
    return calls + end_front(*link, {}, inbox);
  explain(*link, link->outstanding.front(), completion);
  return calls + end_front(*link, {code_of(completion.status), link->peer}, inbox);
}

// For devices on which reads may end after later requests.
int Completions::take_unordered(Link& link, std::uint32_t number, const ibv_wc& completion,
                                core::Inbox& inbox) noexcept {
  if (completion.status != IBV_WC_SUCCESS) {  // the loss of the peer ends them all
    explain(link, link.outstanding[number], completion);
    return 0;
  }
  link.outstanding.note_end(number);
  int calls = 0;
  while (link.outstanding.front_ended()) calls += end_front(link, {}, inbox);
  return calls;
}

}  // namespace aqueduct::conduits::ibv
