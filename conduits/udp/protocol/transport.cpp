#include "conduits/udp/protocol/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include <poll.h>

namespace aqueduct::conduits::udp {
namespace {

constexpr std::size_t kMostReads = 8;              // of 64 KiB each: fits the second-level cache
constexpr Time kRetryBlocked = 50 * kMicrosecond;  // until a full send buffer is tried again
// How often the receive buffer is shared out among the senders.
constexpr Time kShareEvery = 10 * kMillisecond;
constexpr Time kActive = 100 * kMillisecond;  // a peer heard within this time counts as sending
constexpr Time kLinger = 500 * kMillisecond;  // at the end: wait for the last acknowledgements
// At the end: wait for room in the send buffer for close packets.
constexpr Time kCloseLasts = 100 * kMillisecond;
// At the end: between polls of this process's other endpoints.
constexpr Time kBetweenLooks = 100 * kMicrosecond;
// Chosen: in larger jobs a connection to each peer costs more than the loss of one whose first packet comes during a long handler.
constexpr std::size_t kMostKnown = 256;
constexpr std::uint32_t kLeastWindow = 4 * 1024;  // two packets of the smallest path
constexpr std::uint32_t kMostWindow = 4 * 1024 * 1024;

}  // namespace

Transport::Transport(std::unique_ptr<Carrier> carrier, UpperLayer& upper, Watcher& watcher, Rank me,
                     Rank ranks, std::uint64_t job, core::EndpointClock clock)
    : carrier_(std::move(carrier)),
      clock_(clock),
      common_(upper, me, job),
      watcher_(watcher),
      connections_(ranks),
      gone_(ranks),
      last_progress_(read_clock()) {
  common_.burst = std::min(common_.burst, carrier_->most_bytes());
  common_.most_batch_packets = std::min(common_.most_batch_packets, carrier_->most_segments());
  outgoing_.reserve(kGsoBatches);
  active_.reserve(ranks);
  dirty_.reserve(ranks);
}

Transport::~Transport() = default;

void Transport::set_peers(std::vector<PeerAddress> peers, Rank me) {
  peers_ = std::move(peers);
  const PeerAddress* only = nullptr;
  int served = 0;
  for (Rank rank = 0; rank < peers_.size(); ++rank) {
    if (rank == me || peers_[rank].address.bytes == 0) continue;
    only = &peers_[rank];
    ++served;
  }
  if (served == 1) carrier_->only_peer(only->address);
}

Connection* Transport::connection(Rank peer) noexcept try {
  if (connections_[peer] != nullptr) return connections_[peer].get();
  if (gone_[peer] || !serves(peer)) return nullptr;
  const PeerAddress& published = peers_[peer];
  auto made = std::make_unique<Connection>(common_, peer, published.secret, read_clock(), published.base);
  made->address = &published.address;
  connections_[peer] = std::move(made);
  active_.push_back(connections_[peer].get());
  shared_at_ = 0;  // one more peer shares the receive buffer
  told_of_drops_ = false;
  return connections_[peer].get();
} catch (const std::bad_alloc&) {
  shortage_.note();
  return nullptr;
}

bool Transport::lacks_memory() noexcept {
  return shortage_.lasts(read_clock(), active_.size(), common_.no_memory_limit());
}

void Transport::give_up_without_memory(Rank peer) noexcept {
  watcher_.no_memory(peer);
  shortage_.begin_again();  // another peer gets as long
}

void Transport::set_budget(std::size_t bytes) noexcept {
  budget_ = bytes;
  share_window(read_clock());
}

// Divides the receive buffer among the peers that send now. All that they may have in flight fits the buffer.
void Transport::share_window(Time now) noexcept {
  shared_at_ = now;
  std::size_t sending = 0;
  for (const Connection* connection : active_) sending += now - connection->heard_at() < kActive ? 1 : 0;
  const std::size_t share = budget_ / std::max<std::size_t>(1, sending);
  common_.window = static_cast<std::uint32_t>(std::clamp<std::size_t>(share, kLeastWindow, kMostWindow));
}

// ---------------------------------------------------------------------------------------------------- sending

GsoBatch* Transport::next_gso_batch() noexcept {
  if (outgoing_.size() == kGsoBatches && !push()) return nullptr;
  GsoBatch* batch = &gso_batches_[outgoing_.size()];
  batch->clear();
  return batch;
}

void Transport::add(const Connection& connection, bool may_fragment) noexcept {
  outgoing_.push_back(gso_batches_[outgoing_.size()].outgoing(*connection.address, may_fragment));
}

// Hands the batch to the system. False: the send buffer has no room for all of it.
bool Transport::push() noexcept {
  if (outgoing_.empty()) return true;
  pushed_ += carrier_->send(std::span(outgoing_).subspan(pushed_));
  blocked_ = pushed_ < outgoing_.size();
  if (blocked_) return false;
  outgoing_.clear();
  pushed_ = 0;
  return true;
}

void Transport::flush(Time now, Connection& connection) noexcept {
  // Whether the program let it wait: the handlers of this round do not count.
  connection.leaves(in_progress_ ? last_progress_ : now);
  bool may_fragment = false;
  for (GsoBatch* batch = next_gso_batch(); batch != nullptr && connection.fill(now, *batch, may_fragment);
       batch = next_gso_batch()) {
    add(connection, may_fragment);
  }
  deadline_ = std::min(deadline_, connection.deadline());
}

void Transport::posted(Connection& connection) noexcept {
  if (!in_progress_) connection.posts();
  if (!in_progress_ && !blocked_ && (connection.idle() || connection.full_load())) {
    const Time now = read_clock();
    connection.leaves_at_once();
    flush(now, connection);
    if (!push()) deadline_ = std::min(deadline_, now + kRetryBlocked);
    return;
  }
  if (!connection.dirty) {
    connection.dirty = true;
    dirty_.push_back(&connection);
  }
  if (!in_progress_ && !blocked_ && !connection.holds()) connection.held(read_clock());
}

void Transport::serve_dirty(Time now) noexcept {
  if (blocked_ && !push()) {
    deadline_ = std::min(deadline_, now + kRetryBlocked);
    return;
  }
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    dirty_[i]->dirty = false;
    dirty_[i]->progresses();
    flush(now, *dirty_[i]);
    if (blocked_) {  // the others stay in the list
      dirty_[i]->dirty = true;
      dirty_.erase(dirty_.begin(), dirty_.begin() + static_cast<std::ptrdiff_t>(i));
      deadline_ = std::min(deadline_, now + kRetryBlocked);
      return;
    }
  }
  dirty_.clear();
  if (!push()) deadline_ = std::min(deadline_, now + kRetryBlocked);
}

// -------------------------------------------------------------------------------------------------- receiving

void Transport::take(Time now, std::span<std::byte> datagram) noexcept {
  auto packet = parse_packet(datagram, common_.security == Security::full ? Seal::kTrailer : 0);
  if (!packet || packet->header.from >= connections_.size() || packet->header.from == common_.me) {
    ++unknown_senders_;
    return;
  }
  const Rank from = packet->header.from;
  const bool first = connections_[from] == nullptr;
  Connection* connection = this->connection(from);
  if (connection == nullptr) {
    // The peer is not taken for lost: anybody may have sent this. The peer hears nothing, and gives this rank up.
    if (serves(from) && !gone_[from] && lacks_memory() && !std::exchange(told_of_drops_, true))
      watcher_.drops_without_memory(from);
    ++unknown_senders_;
    return;
  }
  const Connection::Verdict verdict = connection->receive(now, *packet, datagram);
  if (verdict == Connection::Verdict::rejected && first) {  // a forged rank number must not create state
    active_.pop_back();
    connections_[from].reset();
    ++unknown_senders_;
    return;
  }
  if (verdict == Connection::Verdict::closed) forget(from);
  if (!connection->dirty) {
    connection->dirty = true;
    dirty_.push_back(connection);
  }
}

int Transport::progress() noexcept {
  in_progress_ = true;
  const Time now = read_clock();
  // If this endpoint itself was away, its peers were not silent: their packets wait in the receive buffer.
  if (now - last_progress_ > common_.timeout / 4) {
    for (Connection* connection : active_) connection->discount_pause(now, now - last_progress_);
    shortage_.discount_pause(now, now - last_progress_);
  }
  last_progress_ = now;
  int datagrams = 0;
  const auto arrived = carrier_->receive(reads_);
  const std::size_t trailer = common_.security == Security::full ? Seal::kTrailer : 0;
  for (const Incoming& incoming : arrived) {
    for (std::span<std::byte> rest = incoming.bytes; !rest.empty(); ++datagrams) {
      const std::size_t bytes =
          incoming.segment != 0 ? std::min(incoming.segment, rest.size()) : packet_bytes(rest, trailer);
      take(now, rest.first(bytes));
      rest = rest.subspan(bytes);
    }
  }
  // For occasional datagrams a single read is faster; a steady stream is read several at a time.
  busy_rounds_ = arrived.empty() ? 0 : busy_rounds_ + 1;
  more_waits_ = arrived.size() >= reads_;
  reads_ = busy_rounds_ < 2 ? 1 : std::min(reads_ * 2, kMostReads);
  // Handlers may have run for long. What leaves now says so, or both ends would take their time for the path's. The timers keep
  // to the time up to which the socket has been read: acknowledgements that have come since lie there.
  const Time leaves = datagrams != 0 ? read_clock() : now;
  if (!dirty_.empty() || blocked_) serve_dirty(leaves);
  if (now >= deadline_) tick(now, leaves);
  in_progress_ = false;
  return datagrams;
}

// ------------------------------------------------------------------------------------------------------- time

void Transport::tick(Time now, Time leaves) noexcept {
  if (now - shared_at_ >= kShareEvery) share_window(now);
  deadline_ = kNever;
  const std::size_t too_long = carrier_->too_long();
  for (std::size_t i = 0; i < active_.size(); ++i) {
    Connection& connection = *active_[i];
    if (too_long != 0) connection.too_long(now, too_long);
    if (ended(now, connection)) continue;
    if (!blocked_) {
      flush(leaves, connection);
      if (GsoBatch* batch = next_gso_batch(); batch != nullptr && connection.fill_ping(leaves, *batch))
        add(connection, false);
    }
    deadline_ = std::min(deadline_, blocked_ ? std::max(connection.deadline(), leaves + kRetryBlocked)
                                             : connection.deadline());
  }
  if (!push()) deadline_ = std::min(deadline_, leaves + kRetryBlocked);
}

void Transport::keep_alive(Time now, Connection& connection) noexcept {
  GsoBatch* const batch = next_gso_batch();
  if (batch != nullptr && connection.fill_bare_ping(now, *batch)) add(connection, false);
}

void Transport::send_keep_alives() noexcept {
  const Time now = read_clock();
  if (blocked_ || now - last_progress_ < common_.heartbeat) return;
  for (Connection* const connection : active_) keep_alive(now, *connection);
  // The first packets of other peers may lie unread in the socket. These peers give up after the timeout.
  if (connections_.size() <= kMostKnown && now - last_progress_ >= common_.timeout / 2) {
    for (Rank rank = 0; rank < connections_.size(); ++rank) {
      if (rank != common_.me && connections_[rank] == nullptr) static_cast<void>(connection(rank));
    }
  }
  static_cast<void>(push());
}

bool Transport::ended(Time now, Connection& connection) noexcept {
  switch (connection.tick(now)) {
    case Connection::Liveness::alive: return false;
    case Connection::Liveness::silent:
      // A packet that proves it alive may lie unread in the socket. This excuse ends after twice the timeout.
      if (more_waits_ && now - connection.heard_at() < 2 * common_.timeout) return false;
      watcher_.silent(connection.peer(), connection.counters().received != 0);
      break;
    case Connection::Liveness::black_hole: watcher_.black_hole(connection.peer()); break;
    case Connection::Liveness::attempts_exhausted: watcher_.attempts_exhausted(connection.peer()); break;
    case Connection::Liveness::no_memory: watcher_.no_memory(connection.peer()); break;
  }
  forget(connection.peer());
  return true;
}

void Transport::forget(Rank peer) noexcept {
  if (gone_[peer]) return;
  gone_[peer] = true;
  if (connections_[peer] != nullptr) connections_[peer]->fail({ErrorCode::peer_lost, peer});
  watcher_.lost(peer);
}

template <class Done>
void Transport::progress_until(const Done& done, Time limit, const Meanwhile& meanwhile) noexcept {
  const Time end = read_clock() + limit;
  const Time longest = meanwhile ? kBetweenLooks : 10 * kMillisecond;
  for (Time now = read_clock(); !done() && now < end; now = read_clock()) {
    if (progress() != 0) continue;
    if (meanwhile) meanwhile();
    const Time wait = std::clamp<Time>(std::min(deadline(), end) - now, 0, longest);
    const timespec pause{0, static_cast<long>(wait)};
    pollfd readable{carrier_->descriptor(), POLLIN, 0};
    ::ppoll(&readable, 1, &pause, nullptr);
  }
}

// Hands the whole batch to the system, as soon as the send buffer has room. False: there was no room until `end`.
bool Transport::push_by(Time end) noexcept {
  while (!push()) {
    if (read_clock() >= end) return false;
    const timespec pause{0, kRetryBlocked};
    ::ppoll(nullptr, 0, &pause, nullptr);
  }
  return true;
}

void Transport::close(const Meanwhile& meanwhile) noexcept {
  progress_until(
      [&] {
        return std::all_of(active_.begin(), active_.end(),
                           [](Connection* connection) { return connection->settled(); });
      },
      kLinger, meanwhile);
  blocked_ = false;
  outgoing_.clear();
  pushed_ = 0;
  const Time now = read_clock();
  const Time end = now + kCloseLasts;
  for (int copy = 0; copy < 3; ++copy) {  // close packets are not acknowledged, so several copies are sent
    for (Connection* connection : active_) {
      // A peer that still misses some of our packets gets no close packet. Our silence tells it that we are gone.
      if (gone_[connection->peer()] || !connection->settled()) continue;
      if (outgoing_.size() == kGsoBatches && !push_by(end)) return;
      GsoBatch* batch = next_gso_batch();
      connection->fill_close(now, *batch);
      add(*connection, false);
    }
    if (!push_by(end)) return;
  }
}

void Transport::finish_replies(SegmentId segment, const Meanwhile& meanwhile) noexcept {
  const auto none = [&] {
    return std::none_of(active_.begin(), active_.end(),
                        [&](Connection* connection) { return connection->reads(segment); });
  };
  progress_until(none, kSecond, meanwhile);
  for (Connection* connection : active_) connection->drop_replies(segment);
}

std::string Transport::text(Rank peer) const {
  if (peer >= connections_.size()) return {};
  if (connections_[peer] == nullptr) {
    if (gone_[peer]) return "lost before any packet";
    if (shortage_.failures() == 0) return "no packet yet";
    return fmt::format("no packet yet; for lack of memory {} attempts to make a connection have failed",
                       shortage_.failures());
  }
  std::string text = connections_[peer]->text(read_clock());
  if (unknown_senders_ != 0)
    text += fmt::format("; {} datagrams from unknown senders dropped", unknown_senders_);
  text += carrier_->troubles();
  if (blocked_) text += "; the system's send buffer is full";
  return text;
}

}  // namespace aqueduct::conduits::udp
