#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/ibv_conduit.hpp"
#include "conduits/ibv/work_id.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: so many completions, then the caller has its turn.
constexpr std::size_t kBatch = 16;

}  // namespace

int IbvConduit::poll(core::Inbox& inbox) noexcept {
  requests_.begin_round();
  credits_.begin_round();
  int calls = to_self_.empty() ? 0 : to_self_.deliver(env_.me, inbox);
  connections_.poll_calls(look_at_channel_);
  if (look_at_channel_) [[unlikely]]
    empty_channel();
  std::array<ibv_wc, kBatch> batch;
  const int found =
      losses_.is_broken() ? 0 : ::ibv_poll_cq(env_.objects.queue.get(), int{kBatch}, batch.data());
  for (int i = 0; i < found; ++i) calls += take(batch[static_cast<std::size_t>(i)], inbox);
  more_ = found == int{kBatch};
  calls += striping_.poll(inbox, more_);
  if (found < 0) [[unlikely]]
    losses_.give_up("its completion queue fails");
  credits_.return_taken();
  bounces_.go_on();
  connections_.go_on(more_);
  // What a lost peer had sent before is taken first.
  if (!more_ && losses_.any()) [[unlikely]]
    calls += losses_.take(inbox, [&](Rank peer) noexcept { return bury(peer, inbox); });
  return calls;
}

int IbvConduit::take(const ibv_wc& completion, core::Inbox& inbox) noexcept {
  const std::uint64_t index = WorkId::index(completion.wr_id);
  switch (WorkId::kind(completion.wr_id)) {
    case WorkId::Kind::flight: return take_flight(completion, inbox);
    case WorkId::Kind::receive:
      return messages_.take(connections_.find_by_pair(completion.qp_num), completion, inbox);
    case WorkId::Kind::door_send: connections_.take_sent(index); return 0;
    case WorkId::Kind::door_receive: connections_.take_received(index, completion); return 0;
  }
  return 0;
}

int IbvConduit::end_front(Link& link, Status status, core::Inbox& inbox) noexcept {
  const Flight flight = requests_.end_front(link, status);
  return tell(flight.kind, flight.token, status, inbox);
}

int IbvConduit::tell(Flight::Kind kind, core::Token token, Status status, core::Inbox& inbox) noexcept {
  if (kind < Flight::Kind::put) {
    if (kind != Flight::Kind::share) return 0;
    return striping_.end(token, status, inbox);
  }
  inbox.completed(token, status);
  return 1;
}

// Requests end in order: one that tells its end tells that of all before it.
int IbvConduit::take_flight(const ibv_wc& completion, core::Inbox& inbox) noexcept {
  Link* const link = connections_.find_by_request(completion.wr_id);
  const std::uint32_t number = WorkId::number(completion.wr_id);
  if (link == nullptr || link->pair == nullptr || !link->flights.has(number)) return 0;  // of a lost peer's
  if (!env_.sizes().in_order) [[unlikely]]
    return take_unordered(*link, number, completion, inbox);
  int calls = 0;
  while (link->flights.oldest() != number) calls += end_front(*link, {}, inbox);
  if (completion.status == IBV_WC_SUCCESS) [[likely]]
    return calls + end_front(*link, {}, inbox);
  explain(*link, link->flights.front(), completion);
  return calls + end_front(*link, {code_of(completion.status), link->peer}, inbox);
}

// Reads may end after those behind them.
int IbvConduit::take_unordered(Link& link, std::uint32_t number, const ibv_wc& completion,
                               core::Inbox& inbox) noexcept {
  if (completion.status != IBV_WC_SUCCESS) {  // all of them end with the peer
    explain(link, link.flights[number], completion);
    return 0;
  }
  link.flights.note_end(number);
  int calls = 0;
  while (link.flights.front_ended()) calls += end_front(link, {}, inbox);
  return calls;
}

}  // namespace aqueduct::conduits::ibv
