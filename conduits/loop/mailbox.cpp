#include "conduits/loop/mailbox.hpp"

#include <cstring>
#include <utility>

namespace aqueduct::conduits::loop {

using core::Post;

Status Mailbox::open(std::size_t packets, std::size_t max_packet, std::uint64_t seed, Rank owner) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::unopened) return {ErrorCode::refused, owner};
  const std::size_t stride = (max_packet + 15) / 16 * 16;  // Inbox::packet promises 8-byte alignment
  memory_ = std::make_unique<std::byte[]>(packets * stride);
  packets_ = ReorderingQueue<Packet>(packets, seed, 2 * std::uint64_t{owner});
  signals_ = ReorderingQueue<Signalled>(packets, seed, 2 * std::uint64_t{owner} + 1);
  std::byte* memory = memory_.get();
  for (Packet& packet : packets_.elements()) packet.memory = std::exchange(memory, memory + stride);
  state_ = State::open;
  return {};
}

void Mailbox::close() noexcept {
  const std::lock_guard lock(mutex_);
  state_ = State::closed;
}

bool Mailbox::is_closed() const noexcept {
  const std::lock_guard lock(mutex_);
  return state_ == State::closed;
}

Post Mailbox::post(Rank from, core::Bytes header, core::Bytes payload) noexcept {
  const std::lock_guard lock(mutex_);
  if (state_ != State::open) return Post::failed(ErrorCode::peer_lost);
  if (packets_.full()) return Post::retry();
  Packet& packet = packets_.add();
  packet.from = from;
  packet.bytes = header.size() + payload.size();
  if (!header.empty()) std::memcpy(packet.memory, header.data(), header.size());
  if (!payload.empty()) std::memcpy(packet.memory + header.size(), payload.data(), payload.size());
  return Post::done();
}

Post Mailbox::post(Rank from, Signal signal) noexcept {
  const std::lock_guard lock(mutex_);
  if (state_ != State::open) return Post::failed(ErrorCode::peer_lost);
  if (signals_.full()) return Post::retry();
  signals_.add() = {from, signal};
  return Post::done();
}

std::optional<Mailbox::Arrival> Mailbox::next() noexcept {
  const std::lock_guard lock(mutex_);
  release_locked();
  if (!signals_.empty()) {
    const Signalled first = signals_.draw();
    signals_.drop();
    return Arrival{first.from, {}, first.signal};
  }
  if (packets_.empty()) return std::nullopt;
  const Packet& packet = packets_.draw();
  delivering_ = true;
  return Arrival{packet.from, {packet.memory, packet.bytes}, std::nullopt};
}

void Mailbox::release() noexcept {
  const std::lock_guard lock(mutex_);
  release_locked();
}

void Mailbox::release_locked() noexcept {
  if (std::exchange(delivering_, false)) packets_.drop();
}

bool Mailbox::holds_from(Rank peer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto is_from_peer = [peer](const auto& arrival) { return arrival.from == peer; };
  return packets_.any_of(is_from_peer) || signals_.any_of(is_from_peer);
}

std::size_t Mailbox::waiting() const noexcept {
  const std::lock_guard lock(mutex_);
  return packets_.size() + signals_.size();
}

}  // namespace aqueduct::conduits::loop
