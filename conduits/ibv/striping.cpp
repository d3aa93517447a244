#include "conduits/ibv/striping.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: a page, so that shares start at page boundaries if the transfer does.
constexpr std::size_t kGrain = 4096;

}  // namespace

std::optional<core::Post> Striping::post(Rank peer, std::uint64_t key, std::uint64_t offset,
                                         core::MutableBytes buffer, ibv_wr_opcode opcode,
                                         core::Token token) noexcept {
  if (connections_.reach(peer) == nullptr) return losses_.no_connection(peer);
  std::array<Share, kMostRails> ways;
  std::size_t count = 1;  // the first port
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    const std::uint32_t rail_key = rails_.key_of(key, i);
    if (rail_key == 0 || !rails_[i].reaches(peer)) continue;
    ways[count].rail = &rails_[i];
    ways[count++].rail_key = rail_key;
  }
  const std::size_t shares = std::min(count, buffer.size() / env_.options.rail_bytes);
  if (shares < 2) return std::nullopt;
  StripedTransfer* const transfer = transfers_.begin(peer, key, opcode, token);
  if (transfer == nullptr) return core::Post::retry();
  const std::size_t each = buffer.size() / shares / kGrain * kGrain;
  for (; transfer->shares_left < shares; ++transfer->shares_left) {
    Share& share = transfer->shares[transfer->shares_left];
    share = ways[turn_++ % count];
    const std::size_t at = transfer->shares_left * each;
    share.offset = offset + at;
    share.buffer = buffer.subspan(at, transfer->shares_left + 1 < shares ? each : buffer.size() - at);
    share.state = Share::State::waits;
  }
  transfers_.began();
  // A share that is refused here is tried again in the next poll, which can also report a failure.
  for (Share& share : transfer->shares) {
    if (share.state == Share::State::waits) static_cast<void>(begin_share(*transfer, share));
  }
  return core::Post::posted();
}

// `retry`: the share waits for the next poll.
core::Post Striping::begin_share(StripedTransfer& transfer, Share& share) noexcept {
  share.id = transfers_.next_id(transfer, share);
  if (share.rail != nullptr) {
    if (const auto post = begin_by_rail(transfer, share)) return *post;
  }
  Connection* const connection = connections_.reach(transfer.peer);
  if (connection == nullptr) return losses_.no_connection(transfer.peer);
  OutstandingRequest* const entry = requests_.begin(*connection, OutstandingRequest::Kind::share, share.id);
  if (entry == nullptr) return core::Post::retry();
  Work work;
  work.request.opcode = transfer.opcode;
  const bool gets = transfer.opcode == IBV_WR_RDMA_READ;
  core::Post post =
      gets ? access_.read(*connection, *entry, transfer.key, share.offset, share.buffer, work)
           : access_.write(*connection, *entry, transfer.key, share.offset, share.buffer, false, work, true);
  if (post.kind == core::Post::Kind::failed) {
    BouncedTransfer whole =
        gets ? BouncedTransfer::get(transfer.peer, transfer.key, share.offset, share.buffer, share.id)
             : BouncedTransfer::put(transfer.peer, transfer.key, share.offset, share.buffer, share.id);
    whole.ends = OutstandingRequest::Kind::share;
    post = bounced_.or_bounce(post, {&whole, 1});
  }
  if (post.kind == core::Post::Kind::posted) share.state = Share::State::by_first;
  return post;
}

// Nothing: the share must take the first port.
std::optional<core::Post> Striping::begin_by_rail(StripedTransfer& transfer, Share& share) noexcept {
  Rail& rail = *share.rail;
  auto local = rail.memory().key_in_segment(share.buffer);
  if (!local) {
    int error = 0;
    const auto use = transfer.opcode == IBV_WR_RDMA_READ ? core::LocalUse::write : core::LocalUse::read;
    if (share.borrowed == nullptr) share.borrowed = rail.borrow(share.buffer, use, error);
    if (share.borrowed == nullptr) {
      if (error == -EAGAIN) return core::Post::retry();
      share.rail = nullptr;  // the first port may have it registered already, or reports the error
      return std::nullopt;
    }
    local = share.borrowed->region()->lkey;
  }
  Work work;
  work.piece = {reinterpret_cast<std::uint64_t>(share.buffer.data()),
                static_cast<std::uint32_t>(share.buffer.size()), *local};
  work.request.wr_id = share.id;
  work.request.opcode = transfer.opcode;
  work.request.sg_list = &work.piece;
  work.request.num_sge = 1;
  work.request.wr.rdma = {memory_.remote(transfer.key).at + share.offset, share.rail_key};
  const int error = rail.post(transfer.peer, work.request);
  if (error == 0) {
    share.state = Share::State::by_rail;
    return core::Post::posted();
  }
  if (error == ENOMEM) return core::Post::retry();
  leave_rail(rail, transfer.peer, std::strerror(error));
  return std::nullopt;
}

void Striping::give_back(Share& share) noexcept {
  if (share.borrowed != nullptr) share.rail->give_back(*share.borrowed);
  share.borrowed = nullptr;
}

int Striping::end_share(Share& share, Status status, core::Inbox& inbox) noexcept {
  StripedTransfer& transfer = transfers_.transfer_of(share.id);
  give_back(share);
  share = {};
  if (!status && transfer.status) transfer.status = status;
  if (--transfer.shares_left > 0) return 0;
  transfers_.ended();
  inbox.completed(transfer.token, Status(transfer.status));
  return 1;
}

int Striping::take_completions(core::Inbox& inbox, bool& more) noexcept {
  int calls = 0;
  std::array<ibv_wc, 16> batch;
  for (const auto& rail : rails_) {
    const int found = rail->poll(batch);
    if (found < 0) leave_rail(*rail, "its completion queue fails");
    more = more || found == static_cast<int>(batch.size());
    for (int i = 0; i < found; ++i) {
      const ibv_wc& completion = batch[static_cast<std::size_t>(i)];
      Share* const share = transfers_.find(completion.wr_id);
      if (share == nullptr) continue;  // a stale completion: the share went by another port
      if (completion.status == IBV_WC_SUCCESS) [[likely]] {
        calls += end_share(*share, {}, inbox);
      } else {
        leave_rail(*rail, transfers_.transfer_of(completion.wr_id).peer,
                   env_.verbs.wc_status_str(completion.status));
      }
    }
  }
  return calls;
}

int Striping::post_waiting(core::Inbox& inbox) noexcept {
  int calls = 0;
  for (StripedTransfer& transfer : transfers_.all()) {
    if (transfer.shares_left == 0) continue;
    for (Share& share : transfer.shares) {
      if (share.state != Share::State::waits) continue;
      const core::Post post = begin_share(transfer, share);
      if (post.kind != core::Post::Kind::failed) continue;
      const int ended = end_share(share, {post.why, transfer.peer}, inbox);
      calls += ended;
      if (ended != 0) break;  // the inbox may have begun another transfer in this entry
    }
  }
  return calls;
}

}  // namespace aqueduct::conduits::ibv
