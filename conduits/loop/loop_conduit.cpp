#include "conduits/loop/loop_conduit.hpp"

#include <fmt/core.h>

#include <cstring>

namespace aqueduct::conduits::loop {
namespace {

/// Deliveries in one poll. Chosen: enough to be worth the lock, and few enough that the caller can soon answer.
constexpr int kBatch = 16;
/// Bytes up to which a put can copy its source at the call. Chosen.
constexpr std::size_t kMaxInject = 64;

core::Properties properties_for(const LoopOptions& options) {
  const bool native = options.native != LoopOptions::Native::none;
  core::Properties properties;
  properties.name = "loop";
  properties.max_packet = options.max_packet;
  properties.max_transfer = native ? kMaxTransfer : 0;
  properties.max_inject = native ? kMaxInject : 0;
  properties.put_before_send = false;   // packets are delivered at once, puts at a later poll
  properties.put_before_put = false;    // with a seed the network draws the next one
  properties.send_before_send = false;  // likewise
  properties.concurrent_posts = false;
  properties.reports_lost_peers = true;
  properties.whole_words = core::WholeWords::puts_and_gets;  // by move_bytes, see transfers.cpp
  properties.copies = true;
  return properties;
}

}  // namespace

LoopConduit::LoopConduit(LoopNetwork& network, Rank me)
    : network_(network),
      me_(me),
      properties_(properties_for(network.options())),
      serves_(network.ranks(), false),
      reported_(network.ranks(), false) {
  if (network.options().native != LoopOptions::Native::none) {
    native_ = std::make_unique<LoopNative>(network, me);
  }
  if (network.options().native == LoopOptions::Native::all) {
    cross_map_ = std::make_unique<LoopCrossMap>(network, me);
  }
  if (network.options().collectives) collectives_ = std::make_unique<LoopNativeCollectives>(network, me);
}

LoopConduit::~LoopConduit() { network_.close(me_); }

std::vector<std::byte> LoopConduit::address() {
  // All ranks are in this process, so a rank's number is enough to find it.
  std::vector<std::byte> address(sizeof me_);
  std::memcpy(address.data(), &me_, sizeof me_);
  return address;
}

Status LoopConduit::connect(std::span<const std::vector<std::byte>> addresses) {
  if (addresses.size() != serves_.size()) {
    if (network_.log() != nullptr) {
      network_.log()->error(
          "loop: rank {}: connect: {} addresses for {} ranks; give one per rank, empty for a "
          "rank that another conduit serves",
          me_, addresses.size(), serves_.size());
    }
    return ErrorCode::invalid_argument;
  }
  for (Rank peer = 0; peer < addresses.size(); ++peer) {
    const auto& address = addresses[peer];
    if (address.empty()) continue;
    if (address.size() != sizeof peer || std::memcmp(address.data(), &peer, sizeof peer) != 0) {
      if (network_.log() != nullptr) {
        network_.log()->error("loop: rank {}: connect: the address of rank {} is not one of loop's", me_,
                              peer);
      }
      return {ErrorCode::invalid_argument, peer};
    }
    serves_[peer] = true;
  }
  return {};
}

core::Post LoopConduit::send(Rank to, core::Bytes header, core::Bytes payload, core::Token) noexcept {
  if (to >= serves_.size()) return core::Post::failed(ErrorCode::out_of_range);
  if (!serves_[to]) return core::Post::failed(ErrorCode::not_supported);
  if (header.size() + payload.size() > properties_.max_packet)
    return core::Post::failed(ErrorCode::too_large);
  if (network_.turns() != nullptr) network_.turns()->take(me_);
  return network_.mailbox(to).post(me_, header, payload);  // copies, so never returns `posted`
}

int LoopConduit::poll(core::Inbox& inbox) noexcept {
  if (network_.turns() != nullptr) network_.turns()->pass(me_);
  int calls = native_ ? native_->carry_out(inbox) : 0;
  if (collectives_) calls += collectives_->carry_out(inbox);
  calls += deliver(inbox);
  return calls + report_losses(inbox);
}

int LoopConduit::deliver(core::Inbox& inbox) noexcept {
  Mailbox& mine = network_.mailbox(me_);
  int calls = 0;
  while (calls < kBatch) {
    const auto arrival = mine.next();
    if (!arrival) break;
    if (arrival->signal) {
      inbox.signalled(arrival->from, *arrival->signal);
    } else {
      inbox.packet(arrival->from, arrival->packet);
    }
    ++calls;
  }
  mine.release();
  return calls;
}

int LoopConduit::report_losses(core::Inbox& inbox) noexcept {
  const Rank closed = network_.closed();
  if (closed == closed_seen_) return 0;
  int calls = 0;
  bool all = true;
  for (Rank peer = 0; peer < serves_.size(); ++peer) {
    if (peer == me_ || !serves_[peer] || reported_[peer] || !network_.mailbox(peer).is_closed()) continue;
    if (network_.mailbox(me_).holds_from(peer)) {
      all = false;  // deliver its last packets first
      continue;
    }
    reported_[peer] = true;
    inbox.lost(peer);
    ++calls;
  }
  if (all) closed_seen_ = closed;
  return calls;
}

std::string LoopConduit::state_of(Rank peer) const {
  if (peer >= serves_.size()) return {};
  const Mailbox& theirs = network_.mailbox(peer);
  std::string state = fmt::format("{} of {} packets and signals wait for it{}", theirs.waiting(),
                                  network_.options().queue, theirs.is_closed() ? "; it has closed" : "");
  if (network_.turns() != nullptr) {
    state += fmt::format("; turns passed over: {}", network_.turns()->passed_over());
  }
  return state;
}

}  // namespace aqueduct::conduits::loop
