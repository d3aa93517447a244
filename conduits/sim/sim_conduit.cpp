#include "conduits/sim/sim_conduit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::sim {
namespace {

/// Deliveries in one poll. Chosen: more than any rank has at one time, and a bound all the same.
constexpr int kBatch = 4096;

core::Properties properties_for(const SimOptions& options) {
  core::Properties properties;
  properties.name = "sim";
  properties.max_packet = options.max_packet;
  properties.max_transfer = kMaxTransfer;
  properties.max_inject = kMaxInject;
  properties.max_inject_signal = 0;     // a source is busy for as long as the model says
  properties.put_before_send = false;   // jitter, and lost messages that are repaired, change the order
  properties.put_before_put = false;    // likewise
  properties.send_before_send = false;  // likewise
  properties.concurrent_posts = false;
  properties.reports_lost_peers = true;
  properties.whole_words = core::WholeWords::puts_and_gets;  // by move_bytes, see sim_network.cpp
  properties.copies = true;
  return properties;
}

constexpr std::uint64_t kPerNanosecond = 1000;

}  // namespace

SimConduit::SimConduit(SimNetwork& network, Rank me)
    : network_(network),
      me_(me),
      properties_(properties_for(network.options())),
      serves_(network.ranks(), false),
      native_(network, me) {}

SimConduit::~SimConduit() { network_.close(me_); }

std::vector<std::byte> SimConduit::address() {
  // All ranks are in this process, so a rank's number is enough to find it.
  std::vector<std::byte> address(sizeof me_);
  std::memcpy(address.data(), &me_, sizeof me_);
  return address;
}

Status SimConduit::connect(std::span<const std::vector<std::byte>> addresses) {
  if (addresses.size() != serves_.size()) {
    if (network_.log() != nullptr) {
      network_.log()->error(
          "sim: rank {}: connect: {} addresses for {} ranks; give one per rank, empty for a rank that "
          "another "
          "conduit serves",
          me_, addresses.size(), serves_.size());
    }
    return ErrorCode::invalid_argument;
  }
  for (Rank peer = 0; peer < addresses.size(); ++peer) {
    const auto& address = addresses[peer];
    if (address.empty()) continue;
    if (address.size() != sizeof peer || std::memcmp(address.data(), &peer, sizeof peer) != 0) {
      if (network_.log() != nullptr) {
        network_.log()->error("sim: rank {}: connect: the address of rank {} is not one of sim's", me_, peer);
      }
      return {ErrorCode::invalid_argument, peer};
    }
    serves_[peer] = true;
  }
  return {};
}

core::Post SimConduit::send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept {
  if (to >= serves_.size()) return core::Post::failed(ErrorCode::out_of_range);
  if (!serves_[to]) return core::Post::failed(ErrorCode::not_supported);
  if (header.size() + payload.size() > properties_.max_packet)
    return core::Post::failed(ErrorCode::too_large);
  Message packet;
  packet.kind = Message::Kind::packet;
  packet.from = me_;
  packet.to = to;
  packet.token = token;
  packet.source = payload.data();
  packet.bytes = payload.size();
  return network_.post(packet, header, true);
}

int SimConduit::poll(core::Inbox& inbox) noexcept {
  const int calls = deliver(inbox);
  if (calls != 0 || armed_) return calls;
  network_.await_news(me_, network_.options().poll);
  return deliver(inbox);
}

int SimConduit::deliver(core::Inbox& inbox) noexcept {
  int calls = 0;
  while (calls < kBatch && network_.next_news(me_, taken_)) {
    ++calls;
    switch (taken_.kind) {
      case News::Kind::packet: inbox.packet(taken_.from, taken_.packet); break;
      case News::Kind::signal: inbox.signalled(taken_.from, taken_.signal); break;
      case News::Kind::counted: break;  // an arrival that is in its place already
      case News::Kind::source_free: inbox.source_free(taken_.token); break;
      case News::Kind::completed: inbox.completed(taken_.token, taken_.status); break;
      case News::Kind::lost:
        if (taken_.from != me_ && serves_[taken_.from]) inbox.lost(taken_.from);
        break;
    }
  }
  return calls;
}

void SimConduit::sleep(std::chrono::nanoseconds limit) noexcept {
  if (limit.count() > 0) network_.await_news(me_, static_cast<std::uint64_t>(limit.count()) * kPerNanosecond);
}

core::Clock::time_point SimConduit::tell(const void* self) noexcept {
  const auto& me = *static_cast<const SimConduit*>(self);
  const Picoseconds time = me.network_.time_of(me.me_);
  return core::Clock::time_point(std::chrono::nanoseconds(time / kPerNanosecond));
}

std::optional<NetworkModel> SimConduit::network_model(Rank) const noexcept {
  const SimOptions& options = network_.options();
  const auto time = [](Picoseconds given) { return aqueduct::Picoseconds(static_cast<std::int64_t>(given)); };
  NetworkModel model;
  model.origin = NetworkModel::Origin::conduit;
  model.by_size[0] = {0, time(options.latency), time(options.overhead), time(options.gap),
                      options.femtoseconds_per_byte};
  model.injection_depth = static_cast<std::uint32_t>(options.queue);
  model.inline_limit = kMaxInject;
  // Where the bytes take nine times as long as the rest of the interval.
  const std::uint64_t per_byte = std::max<std::uint64_t>(options.femtoseconds_per_byte, 1);
  model.peak_bytes = options.femtoseconds_per_byte == 0 ? 0 : options.gap * 1000 / per_byte * 9;
  return model;
}

std::string SimConduit::state_of(Rank peer) const {
  if (peer >= serves_.size()) return {};
  return fmt::format("{} of {} of its messages are under way{}; ranks passed over: {}",
                     network_.under_way(peer), network_.options().queue,
                     network_.is_open(peer) ? "" : "; it has closed", network_.passed_over());
}

}  // namespace aqueduct::conduits::sim
