#include "conduits/loop/loop_native.hpp"

#include <aqueduct/atomic_types.hpp>

#include "conduits/loop/loop_network.hpp"
#include "core/apply_atomic.hpp"
#include "core/pieces.hpp"

#include <algorithm>
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

core::Post LoopNative::put_signal_word(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                       const core::RemoteWord& word, core::Token token) noexcept {
  Transfer transfer{Transfer::Kind::put_word, peer, static_cast<SegmentId>(key), offset, from.size(), token};
  transfer.from = from.data();
  transfer.word = word;
  return post(transfer);
}

core::Post LoopNative::put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                                  std::span<const core::Bytes> from, core::Token token) noexcept {
  return post_pieces(Transfer::Kind::put_pieces, peer, key, to, from, token);
}

core::Post LoopNative::get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                                  std::span<const core::MutableBytes> to, core::Token token) noexcept {
  return post_pieces(Transfer::Kind::get_pieces, peer, key, from, to, token);
}

template <class Local>
core::Post LoopNative::post_pieces(Transfer::Kind kind, Rank peer, std::uint64_t key,
                                   std::span<const core::RemotePiece> remote, std::span<const Local> local,
                                   core::Token token) noexcept {
  const core::PieceLimits limits{kMostRemotePieces, kMostLocalPieces, kMaxTransfer};
  if (const auto why = core::check_pieces(remote, local, limits); why != ErrorCode::ok)
    return core::Post::failed(why);
  Transfer transfer{kind, peer, static_cast<SegmentId>(key), 0, 0, token};
  transfer.remote_pieces = remote.size();
  transfer.local_pieces = local.size();
  std::ranges::copy(remote, transfer.remote.begin());
  for (std::size_t i = 0; i < local.size(); ++i) {
    transfer.local[i] = {const_cast<std::byte*>(local[i].data()), local[i].size()};
  }
  return post(transfer);
}

core::Post LoopNative::atomic(Rank peer, std::uint64_t key, std::uint64_t offset,
                              const detail::AtomicCall& call, core::Token token) noexcept {
  return post_on_word(Transfer::Kind::atomic, peer, key, offset, call, token);
}

core::Post LoopNative::update(Rank peer, std::uint64_t key, std::uint64_t offset,
                              const detail::AtomicCall& call, core::Token token) noexcept {
  return post_on_word(Transfer::Kind::update, peer, key, offset, call, token);
}

core::Post LoopNative::post_on_word(Transfer::Kind kind, Rank peer, std::uint64_t key, std::uint64_t offset,
                                    const detail::AtomicCall& call, core::Token token) noexcept {
  const std::size_t bytes = core::bytes_of(call.type);
  if (peer >= network_.ranks()) return core::Post::failed(ErrorCode::out_of_range);
  bool aligned = true;  // `post` below rejects a place outside the segment
  static_cast<void>(
      network_.memory(peer).with(static_cast<SegmentId>(key), offset, bytes, [&](core::MutableBytes memory) {
        aligned = reinterpret_cast<std::uintptr_t>(memory.data()) % bytes == 0;
      }));
  if (!aligned) return core::Post::failed(ErrorCode::misaligned);
  if (!operations().has(call.op, call.type)) return core::Post::failed(ErrorCode::not_supported);
  Transfer transfer{kind, peer, static_cast<SegmentId>(key), offset, bytes, token};
  transfer.call = call;
  return post(transfer);
}

core::Post LoopNative::post(const Transfer& transfer) noexcept {
  if (transfer.peer >= network_.ranks()) return core::Post::failed(ErrorCode::out_of_range);
  if (network_.turns() != nullptr) network_.turns()->take(me_);
  const auto check = [&](std::uint64_t offset, std::size_t bytes) {
    return network_.memory(transfer.peer).with(transfer.segment, offset, bytes, [](core::MutableBytes) {});
  };
  ErrorCode why = check(transfer.offset, transfer.bytes);
  for (std::size_t i = 0; i < transfer.remote_pieces && why == ErrorCode::ok; ++i) {
    why = check(transfer.remote[i].offset, transfer.remote[i].bytes);
  }
  if (why == ErrorCode::ok && transfer.kind == Transfer::Kind::put_word) {
    why = network_.memory(transfer.peer)
              .with(static_cast<SegmentId>(transfer.word.key), transfer.word.offset, sizeof(std::uint64_t),
                    [](core::MutableBytes) {});
  }
  if (why != ErrorCode::ok) return core::Post::failed(why);
  return transfers_.add(transfer) ? core::Post::posted() : core::Post::retry();
}

Result<core::MutableBytes> LoopCrossMap::allocate(std::uint32_t number, std::size_t bytes) {
  auto memory = network_.memory(me_).allocate(bytes);
  if (!memory && network_.log() != nullptr) {
    network_.log()->error(
        "loop: rank {}: no memory for a segment of {} bytes (allocation {}); ask for less, or free memory",
        me_, bytes, number);
  }
  return memory;
}

void LoopCrossMap::release(core::MutableBytes memory) noexcept { network_.memory(me_).release(memory); }

std::vector<std::byte> LoopCrossMap::export_map(SegmentId, core::MutableBytes memory, bool) {
  return to_bytes(memory.data());  // the address is the same for all ranks, also of attached memory
}

Result<std::byte*> LoopCrossMap::map(Rank peer, core::Bytes key, std::size_t) {
  std::byte* address = nullptr;
  if (key.size() != sizeof address) return {ErrorCode::not_supported, peer};
  std::memcpy(&address, key.data(), sizeof address);
  return address;
}

}  // namespace aqueduct::conduits::loop
