#include "conduits/sim/sim_native.hpp"

#include "core/apply_atomic.hpp"

#include <cstring>

namespace aqueduct::conduits::sim {

Result<std::vector<std::byte>> SimNative::register_segment(SegmentId id, core::MutableBytes memory) {
  network_.register_segment(me_, id, memory);
  std::vector<std::byte> key(sizeof id);
  std::memcpy(key.data(), &id, sizeof id);
  return key;
}

Result<std::uint64_t> SimNative::import_key(Rank peer, core::Bytes key) {
  SegmentId id = 0;
  if (peer >= network_.ranks()) return {ErrorCode::out_of_range, peer};
  if (key.size() != sizeof id) return {ErrorCode::not_supported, peer};
  if (!network_.is_open(peer)) return {ErrorCode::peer_lost, peer};
  std::memcpy(&id, key.data(), sizeof id);
  return std::uint64_t{id};
}

Message SimNative::message(Message::Kind kind, Rank peer, std::uint64_t key, std::uint64_t offset,
                           std::uint64_t bytes, core::Token token) const noexcept {
  Message message;
  message.kind = kind;
  message.from = me_;
  message.to = peer;
  message.token = token;
  message.segment = static_cast<SegmentId>(key);
  message.offset = offset;
  message.bytes = bytes;
  return message;
}

core::Post SimNative::put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                          core::Token token) noexcept {
  Message put = message(Message::Kind::put, peer, key, offset, from.size(), token);
  put.source = from.data();
  return network_.post(put, {}, inject);
}

core::Post SimNative::get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                          core::Token token) noexcept {
  Message get = message(Message::Kind::get, peer, key, offset, to.size(), token);
  get.target = to.data();
  return network_.post(get, {}, false);
}

core::Post SimNative::put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                 Signal signal, core::Token token) noexcept {
  Message put = message(Message::Kind::put_signal, peer, key, offset, from.size(), token);
  put.source = from.empty() ? nullptr : from.data();
  put.signal = signal;
  return network_.post(put, {}, false);
}

core::Post SimNative::put_signal_word(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                      const core::RemoteWord& word, core::Token token) noexcept {
  Message put = message(Message::Kind::put_word, peer, key, offset, from.size(), token);
  put.source = from.data();
  put.word = word;
  return network_.post(put, {}, false);
}

core::Post SimNative::atomic(Rank peer, std::uint64_t key, std::uint64_t offset,
                             const detail::AtomicCall& call, core::Token token) noexcept {
  if (!operations().has(call.op, call.type)) return core::Post::failed(ErrorCode::not_supported);
  Message atomic = message(Message::Kind::atomic, peer, key, offset, core::bytes_of(call.type), token);
  atomic.call = call;
  return network_.post(atomic, {}, false);
}

}  // namespace aqueduct::conduits::sim
