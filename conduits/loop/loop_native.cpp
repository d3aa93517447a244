#include "conduits/loop/loop_native.hpp"

#include "conduits/loop/loop_network.hpp"

#include <cstring>

namespace aqueduct::conduits::loop {
namespace {

template <class T>
std::vector<std::byte> to_bytes(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

}  // namespace

LoopNative::LoopNative(LoopNetwork& network, Rank me) : network_(network), me_(me), transfers_(network, me) {}

Result<std::vector<std::byte>> LoopNative::register_segment(SegmentId id, core::MutableBytes memory) {
  network_.memory(me_).add(id, memory);
  return to_bytes(id);
}

void LoopNative::unregister_segment(SegmentId id) noexcept { network_.memory(me_).remove(id); }

Result<std::uint64_t> LoopNative::import_key(Rank peer, core::Bytes key) {
  SegmentId id = 0;
  if (peer >= network_.ranks()) return {ErrorCode::out_of_range, peer};
  if (key.size() != sizeof id) return {ErrorCode::not_supported, peer};
  if (network_.mailbox(peer).is_closed()) return {ErrorCode::peer_lost, peer};
  std::memcpy(&id, key.data(), sizeof id);
  return std::uint64_t{id};
}

core::Post LoopNative::put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                           core::Token token) noexcept {
  Transfer transfer{Transfer::Kind::put, peer, static_cast<SegmentId>(key), offset, from.size(), token};
  transfer.from = from.data();
  if (!inject || peer >= network_.ranks()) return post(transfer);
  if (network_.turns() != nullptr) network_.turns()->take(me_);
  const auto why = transfers_.move_bytes(transfer);
  return why == ErrorCode::ok ? core::Post::done() : core::Post::failed(why);
}

core::Post LoopNative::get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                           core::Token token) noexcept {
  Transfer transfer{Transfer::Kind::get, peer, static_cast<SegmentId>(key), offset, to.size(), token};
  transfer.to = to.data();
  return post(transfer);
}

core::Post LoopNative::put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                  Signal signal, core::Token token) noexcept {
  Transfer transfer{
      Transfer::Kind::put_signal, peer, static_cast<SegmentId>(key), offset, from.size(), token};
  transfer.from = from.data();
  transfer.signal = signal;
  return post(transfer);
}

bool LoopNative::can(AtomicOp op, AtomicType type) const noexcept {
  const bool is_float = type == AtomicType::f32 || type == AtomicType::f64;
  return is_float ? detail::has<float>(op) : detail::has<std::uint32_t>(op);
}

core::Post LoopNative::atomic(Rank peer, std::uint64_t key, std::uint64_t offset,
                              const detail::AtomicCall& call, core::Token token) noexcept {
  const std::size_t bytes = bytes_of(call.type);
  if (offset % bytes != 0) return core::Post::failed(ErrorCode::misaligned);
  if (!can(call.op, call.type)) return core::Post::failed(ErrorCode::not_supported);
  Transfer transfer{Transfer::Kind::atomic, peer, static_cast<SegmentId>(key), offset, bytes, token};
  transfer.call = call;
  return post(transfer);
}

core::Post LoopNative::post(const Transfer& transfer) noexcept {
  if (transfer.peer >= network_.ranks()) return core::Post::failed(ErrorCode::out_of_range);
  if (network_.turns() != nullptr) network_.turns()->take(me_);
  const auto why = network_.memory(transfer.peer)
                       .with(transfer.segment, transfer.offset, transfer.bytes, [](core::MutableBytes) {});
  if (why != ErrorCode::ok) return core::Post::failed(why);
  return transfers_.add(transfer) ? core::Post::posted() : core::Post::retry();
}

Result<core::MutableBytes> LoopCrossMap::allocate(SegmentId id, std::size_t bytes) {
  auto memory = network_.memory(me_).allocate(bytes);
  if (!memory && network_.log() != nullptr) {
    network_.log()->error("loop: rank {}: no memory for segment {} of {} bytes; ask for less, or free memory",
                          me_, id, bytes);
  }
  return memory;
}

void LoopCrossMap::release(SegmentId, core::MutableBytes memory) noexcept {
  network_.memory(me_).release(memory);
}

std::vector<std::byte> LoopCrossMap::export_map(SegmentId, core::MutableBytes memory, bool) {
  return to_bytes(memory.data());  // whoever allocated it: it is the same address for all
}

Result<std::byte*> LoopCrossMap::map(Rank peer, core::Bytes key, std::size_t) {
  std::byte* address = nullptr;
  if (key.size() != sizeof address) return {ErrorCode::not_supported, peer};
  std::memcpy(&address, key.data(), sizeof address);
  return address;
}

}  // namespace aqueduct::conduits::loop
