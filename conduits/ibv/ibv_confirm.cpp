// Devices whose writes end when their bytes have left, not when they have arrived (iWARP): a read from the peer's memory behind
// a put ends after the put's bytes are there, for the peer's device does one thing after the other. The put is over with it.

#include "conduits/ibv/ibv_conduit.hpp"
#include "conduits/ibv/work_id.hpp"

#include <cstdint>

namespace aqueduct::conduits::ibv {

// Of the 8 bytes where I write what I have taken of the peer's messages: what they say is of no concern.
void IbvConduit::fill_read_back(const Link& link, Work& read) noexcept {
  read.piece = cells_.read_to(link.peer);
  read.request.sg_list = &read.piece;
  read.request.num_sge = 1;
  read.request.opcode = IBV_WR_RDMA_READ;
  read.request.wr.rdma = {link.cell, link.cell_key};
}

// The newest request of the link is a put's: the read, which is to be posted behind it, takes over its token. There is room:
// `begin` has left some.
void IbvConduit::add_confirmation(Link& link, Work& read) noexcept {
  Flight& put = link.flights[link.flights.next() - 1];
  put.kind = Flight::Kind::part;
  --left_;
  Flight& confirmation = link.flights.begin(Flight::Kind::put, put.token);
  confirmation.offset = put.offset;
  confirmation.key = put.key;
  confirmation.bytes = put.bytes;
  confirmation.reads = !env_.sizes().in_order;
  fill_read_back(link, read);
  name(link, read.request, true);
}

core::Post IbvConduit::launch_confirmed(Link& link, ibv_send_wr& request) noexcept {
  Work read;
  name(link, request, false);
  add_confirmation(link, read);
  request.next = &read.request;
  if (hand_over(link, &request)) return core::Post::posted();
  // What the device has taken of it ends with the peer.
  if (!losses_.is_suspected(link.peer))
    losses_.suspect(link.peer, "the device has no room for what is owed to it");
  return core::Post::posted();
}

// A request that does nothing, whose end shows that the peer is there, and that all before it has arrived. False: no room.
bool IbvConduit::probe(Link& link, Flight::Kind kind) noexcept {
  if (env_.sizes().confirms) return post_own(link, 0, 0, 0, false);
  Flight* const flight = begin(link, Flight::Kind::own, 0);
  if (flight == nullptr) return false;
  flight->kind = kind;
  flight->reads = !env_.sizes().in_order;
  Work read;
  fill_read_back(link, read);
  return launch(link, read.request, true).kind == core::Post::Kind::posted;
}

// ------------------------------------------------------------------------------ reads that end after those behind them

// All others begin and end in order, and what a read brings has been asked for before those behind it left.
void IbvConduit::note_end(Link& link, std::uint32_t number) noexcept {
  link.flights[number].ended = true;
  if (static_cast<std::int32_t>(number + 1 - link.ended_to) > 0) link.ended_to = number + 1;
}

// Whether the oldest has ended; it is forgotten that it was a read.
bool IbvConduit::front_ended(Link& link) noexcept {
  if (link.flights.count() == 0) return false;
  Flight& front = link.flights.front();
  const bool passed = static_cast<std::int32_t>(link.ended_to - link.flights.oldest()) > 0;
  if (!(front.reads ? front.ended : passed)) return false;
  front.reads = front.ended = false;
  return true;
}

int IbvConduit::take_unordered(Link& link, std::uint32_t number, const ibv_wc& completion,
                               core::Inbox& inbox) noexcept {
  if (completion.status != IBV_WC_SUCCESS) {  // all of them end with the peer
    explain(link, link.flights[number], completion);
    return 0;
  }
  note_end(link, number);
  int calls = 0;
  while (front_ended(link)) calls += end_front(link, {}, inbox);
  return calls;
}

}  // namespace aqueduct::conduits::ibv
