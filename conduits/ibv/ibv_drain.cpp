// The end of a conduit: what was posted still arrives.

#include "conduits/ibv/ibv_conduit.hpp"
#include "conduits/ibv/work_id.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: how long the destructor waits for outstanding requests.
constexpr std::chrono::milliseconds kLinger{500};

/// Ignores what completes while the conduit is being destroyed.
struct Deaf final : core::Inbox {
  void packet(Rank, core::Bytes) noexcept override {}
  void completed(core::Token, Status) noexcept override {}
  void signalled(Rank, Signal) noexcept override {}
  void lost(Rank) noexcept override {}
};

/// Whether a peer may wait for one of the requests to it.
bool matters(Connection& connection) noexcept {
  if (connection.pair == nullptr) return false;
  for (std::uint32_t i = 0; i < connection.outstanding.count(); ++i) {
    if (connection.outstanding[connection.outstanding.oldest() + i].kind != OutstandingRequest::Kind::own)
      return true;
  }
  return false;
}

}  // namespace

bool IbvConduit::is_drained() const noexcept {
  if (bounced_.any() || striping_.any_by_rail() || striping_.any_waits()) return false;
  return std::ranges::none_of(connections_.all(), [](const auto& connection) {
    return connection != nullptr && matters(*connection);
  });
}

// Waits for outstanding requests before the connections close, because peers may wait for their data. What is not posted yet, since
// there was no room, is posted meanwhile.
void IbvConduit::drain() noexcept {
  if (requests_.holds_any()) requests_.ring();
  for (const auto& connection : connections_.all()) {
    if (connection == nullptr || connection->pair == nullptr) continue;
    // Where a completion does not mean arrival, the connection must stay open until a read behind the last request
    // ends.
    if (!env_.sizes().confirms && connection->ready)
      static_cast<void>(requests_.probe(*connection, OutstandingRequest::Kind::part));
    // The completion of an empty request ends the unsignaled ones before it.
    if (matters(*connection) && connection->unsignaled > 0)
      static_cast<void>(requests_.probe(*connection, OutstandingRequest::Kind::own));
  }
  const auto until = env_.clock.now() + kLinger;
  Deaf nobody;
  bool more = false;
  while (!losses_.is_broken() && !is_drained() && env_.clock.now() < until) {
    bounced_.go_on();
    static_cast<void>(striping_.poll(nobody, more));
    std::array<ibv_wc, 16> batch;
    const int found = ::ibv_poll_cq(env_.objects.queue.get(), static_cast<int>(batch.size()), batch.data());
    if (found < 0) return;
    for (int i = 0; i < found; ++i) drain_one(batch[static_cast<std::size_t>(i)], nobody);
    // Where a post has failed, there is nobody to post to.
    if (!bounced_.any() || !losses_.any()) continue;
    for (Rank peer = 0; peer < env_.ranks; ++peer) {
      if (losses_.is_out_of_reach(peer)) drop_bounced(peer);
    }
  }
}

void IbvConduit::drop_bounced(Rank peer) noexcept {
  while (bounced_.take(peer)) {
  }
}

void IbvConduit::drain_one(const ibv_wc& completion, core::Inbox& nobody) noexcept {
  if (WorkId::kind(completion.wr_id) ==
      WorkId::Kind::receive) {  // it may carry credits, which a signal waits for
    messages_.take(connections_.find_by_pair(completion.qp_num), completion, nobody);
    return;
  }
  if (WorkId::kind(completion.wr_id) != WorkId::Kind::request) return;
  Connection& connection = *connections_.find_by_request(completion.wr_id);
  const std::uint32_t number = WorkId::number(completion.wr_id);
  // Not `ok`: what a get reads goes no further, since the program may have freed its memory.
  const auto end_front = [&] {
    const OutstandingRequest ended = requests_.end_front(connection, ErrorCode::closed);
    if (ended.kind == OutstandingRequest::Kind::share)
      static_cast<void>(striping_.end(ended.token, ErrorCode::closed, nobody));
  };
  if (env_.sizes().in_order || completion.status != IBV_WC_SUCCESS) {
    while (connection.outstanding.has(number)) end_front();
  } else if (connection.outstanding.has(number)) {
    connection.outstanding.note_end(number);
    while (connection.outstanding.front_ended()) end_front();
  }
  if (completion.status != IBV_WC_SUCCESS) drop_bounced(connection.peer);
}

}  // namespace aqueduct::conduits::ibv
