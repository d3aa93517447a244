#include "conduits/smp/smp_conduit.hpp"

#include <bit>
#include <cerrno>
#include <cstring>

namespace aqueduct::conduits::smp {
namespace {

// Up to this number of ranks, every ring is polled. Measured: polling an empty ring costs 1.5 ns while it stays in the
// cache; an arrival bit costs its sender an atomic operation on a line that all senders share.
constexpr std::size_t kFewRanks = 16;
// Chosen: packets taken from one ring before the next ring is polled.
constexpr int kBatch = 32;

/// What a ring's packets are given to.
struct Delivery {
  core::Inbox& inbox;
  Rank from;
  void operator()(core::Bytes packet) const noexcept { inbox.packet(from, packet); }
  void operator()(core::Bytes head, core::MutableBytes payload) const noexcept {
    inbox.packet_in_parts(from, head, payload);
  }
};

}  // namespace

SmpConduit::SmpConduit(SmpNetwork& network, Rank me)
    : network_(network),
      local_(network.local_of(me)),
      has_membarrier_(network.has_membarrier()),
      map_(network, me, *this, cma_),
      cma_(network, *this),
      barriers_(network, me) {
  properties_.name = "smp";
  properties_.max_transfer = std::size_t{1} << 30;
  properties_.max_inject = properties_.max_transfer;
  properties_.put_before_send = true;
  properties_.put_before_put = true;    // a put is complete when it returns
  properties_.send_before_send = true;  // one ring for each pair
  properties_.reports_lost_peers = true;
  properties_.copies = true;
  // Its own puts and gets, of attached memory, are copies by the system (Cma), which may copy a word byte by byte.
  properties_.whole_words = core::WholeWords::none;
  properties_.max_packet = core::kLeastPacket;
}

// Only the launcher knows whether a rank has ended in order. For the conduit, every rank that ends has left.
SmpConduit::~SmpConduit() {
  thread_.reset();
  if (mine_ == nullptr) return;
  mine_->state.store(RankState::left, std::memory_order_release);
  for (std::uint32_t other = 0; other < arena_->ranks(); ++other) wake_if_asleep(arena_->block(other), false);
}

std::vector<std::byte> SmpConduit::address() {
  // Neighbours need only the arena, and the first rank's address is the arena's key. The other addresses are not used,
  // but must not be empty.
  if (local_ == 0) return network_.arena().key();
  return {std::byte{1}};
}

Status SmpConduit::connect(std::span<const std::vector<std::byte>> addresses) {
  auto arena = network_.arena(addresses[network_.local_ranks().front()]);
  if (!arena) return arena.status();
  arena_ = *arena;
  const std::uint32_t ranks = arena_->ranks();
  const RingShape& shape = arena_->ring_shape();
  properties_.max_packet = shape.max_packet();
  few_ = ranks <= kFewRanks;
  alone_ = few_;
  simple_ = alone_ && has_membarrier_;
  if (!has_membarrier_) publish_ = std::memory_order_seq_cst;
  in_.resize(ranks);
  out_.resize(ranks);
  gone_.resize(ranks);
  for (std::uint32_t from = 0; from < ranks; ++from) in_[from] = Consumer(arena_->ring(from, local_), shape);
  for (std::uint32_t to = 0; to < ranks; ++to) {
    out_[to] = {Producer(arena_->ring(local_, to), shape), &arena_->block(to)};
  }
  local_of_ = network_.locals();
  rank_of_ = network_.local_ranks().data();
  if (const Status status = arena_->lock_life(local_); !status) {
    network_.process().log->error(
        "smp: rank {} gets no lock on the shared arena, by which its neighbours see that it lives: {}. A "
        "file "
        "system without locks? AQUEDUCT_SMP_MEMORY=memfd, or another AQUEDUCT_SMP_DIRECTORY, may help",
        network_.local_ranks()[local_], std::strerror(errno));
    return status;
  }
  mine_ = &arena_->block(local_);
  mine_->state.store(RankState::alive, std::memory_order_release);
  sleeper_.emplace(*mine_, has_membarrier_);
  map_.connect(*arena_);
  barriers_.connect(*arena_);
  return {};
}

core::Post SmpConduit::send(Rank to, core::Bytes header, core::Bytes payload, core::Token) noexcept {
  if (!simple_) [[unlikely]]
    return send_beside(local_of_[to], header, payload);
  Out& out = out_[local_of_[to]];
  if (!out.ring.push(header, payload, std::memory_order_release)) [[unlikely]]
    return core::Post::retry();
  wake_if_asleep(*out.block, /*has_membarrier=*/true);
  return core::Post::done();
}

core::Post SmpConduit::send_beside(std::uint32_t to, core::Bytes header, core::Bytes payload) noexcept {
  const Entry entry(*this);
  return send_inside(to, header, payload);
}

core::Post SmpConduit::send_inside(std::uint32_t to, core::Bytes header, core::Bytes payload) noexcept {
  Out& out = out_[to];
  if (!out.ring.push(header, payload, publish_)) [[unlikely]]
    return core::Post::retry();
  if (!few_)
    out.block->arrived[local_ / 64].fetch_or(std::uint64_t{1} << (local_ % 64), std::memory_order_seq_cst);
  wake_if_asleep(*out.block, has_membarrier_);
  return core::Post::done();
}

int SmpConduit::poll(core::Inbox& inbox) noexcept {
  if (!alone_) return poll_beside(inbox);
  return poll_each(inbox);
}

int SmpConduit::poll_each(core::Inbox& inbox) noexcept {
  int found = 0;
  const Rank* rank = rank_of_;
  for (Consumer& in : in_) {
    if (in.has_packet()) [[unlikely]]
      found += in.drain(kBatch, Delivery{inbox, *rank});
    ++rank;
  }
  return found;
}

int SmpConduit::poll_beside(core::Inbox& inbox) noexcept {
  if (thread_) thread_->owner_polls();
  const Entry entry(*this);
  int found = 0;
  if (!arrivals_.empty()) found += arrivals_.deliver(inbox);
  if (!answers_.empty()) send_answers();
  return found + (few_ ? poll_each(inbox) : poll_some(inbox));
}

int SmpConduit::poll_some(core::Inbox& inbox) noexcept {
  int found = 0;
  for (std::uint32_t word = 0; word * 64 < in_.size(); ++word) {
    auto& arrived = mine_->arrived[word];
    if (arrived.load(std::memory_order_relaxed) == 0) continue;
    std::uint64_t bits = arrived.exchange(0, std::memory_order_seq_cst);
    std::uint64_t again = 0;
    while (bits != 0) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
      bits &= bits - 1;
      const std::uint32_t from = word * 64 + bit;
      const Rank rank = network_.local_ranks()[from];
      const int taken = in_[from].drain(kBatch, Delivery{inbox, rank});
      found += taken;
      if (taken == kBatch) again |= std::uint64_t{1} << bit;
    }
    if (again != 0) arrived.fetch_or(again, std::memory_order_relaxed);
  }
  return found;
}

void SmpConduit::check_peers(core::Inbox& inbox) noexcept {
  const Entry entry(*this);
  if (!arrivals_.empty()) arrivals_.deliver(inbox);  // may include packets of a lost peer
  for (std::uint32_t local = 0; local < arena_->ranks(); ++local) {
    if (gone_[local] || local == local_) continue;
    RankBlock& block = arena_->block(local);
    RankState state = block.state.load(std::memory_order_acquire);
    const Rank rank = network_.local_ranks()[local];
    if (state == RankState::alive && !network_.in_this_process(rank) && !arena_->lives(local)) {
      block.state.store(RankState::dead, std::memory_order_release);
      state = RankState::dead;
    }
    if (state != RankState::left && state != RankState::dead) continue;
    // First deliver the packets that it sent before it ended.
    const int taken = in_[local].drain(INT32_MAX, Delivery{inbox, rank});
    static_cast<void>(taken);
    gone_[local] = true;
    inbox.lost(rank);
  }
}

std::string SmpConduit::state_of(Rank peer) const {
  const Entry entry(*this);
  const std::uint32_t local = network_.local_of(peer);
  constexpr const char* kStates[] = {"not yet connected", "alive", "gone in good order", "dead"};
  const RankBlock& block = arena_->block(local);
  return fmt::format("it is {}{}, {} packets lie in its ring",
                     kStates[static_cast<std::size_t>(block.state.load())],
                     block.sleeping.load() != 0 ? " and asleep" : "", out_[local].ring.on_their_way());
}

}  // namespace aqueduct::conduits::smp
