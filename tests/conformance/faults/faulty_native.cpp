#include "tests/conformance/faults/faulty_native.hpp"

#include "tests/conformance/faults/faulty.hpp"

namespace aqueduct::conformance {

using core::Bytes;
using core::Post;
using core::Token;

Result<std::vector<std::byte>> FaultyNative::register_segment(SegmentId id, core::MutableBytes memory) {
  return inner_.rma()->register_segment(id, memory);
}

void FaultyNative::unregister_segment(SegmentId id) noexcept { inner_.rma()->unregister_segment(id); }

Result<std::uint64_t> FaultyNative::import_key(Rank peer, Bytes key) {
  if (outer_.is_cut(peer)) return {ErrorCode::peer_lost, peer};
  return inner_.rma()->import_key(peer, key);
}

Post FaultyNative::put(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from, bool inject,
                       Token token) noexcept {
  return outer_.start({.peer = peer, .token = token, .payload = from, .take = inject},
                      [=, this](Token own, Bytes, Bytes payload) {
                        return inner_.rma()->put(peer, key, offset, payload, inject, own);
                      });
}

Post FaultyNative::get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                       Token token) noexcept {
  return outer_.start({.peer = peer, .token = token, .repeats = false}, [=, this](Token own, Bytes, Bytes) {
    return inner_.rma()->get(peer, key, offset, to, own);
  });
}

Post FaultyNative::put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from, Signal signal,
                              Token token) noexcept {
  return outer_.start({.peer = peer, .token = token, .payload = from},
                      [=, this](Token own, Bytes, Bytes payload) {
                        return inner_.signal()->put_signal(peer, key, offset, payload, signal, own);
                      });
}

Post FaultyNative::put_signal_word(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from,
                                   const core::RemoteWord& word, Token token) noexcept {
  return outer_.start({.peer = peer, .token = token, .payload = from},
                      [=, this](Token own, Bytes, Bytes payload) {
                        return inner_.signal()->put_signal_word(peer, key, offset, payload, word, own);
                      });
}

// Copies the lists: they are valid only during the call, and an attempt may come later.
Post FaultyNative::put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                              std::span<const Bytes> from, Token token) noexcept {
  return outer_.start(
      {.peer = peer, .token = token},
      [=, this, there = std::vector(to.begin(), to.end()), here = std::vector(from.begin(), from.end())](
          Token own, Bytes, Bytes) { return inner_.vector()->put_pieces(peer, key, there, here, own); });
}

Post FaultyNative::get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                              std::span<const core::MutableBytes> to, Token token) noexcept {
  return outer_.start(
      {.peer = peer, .token = token, .repeats = false},
      [=, this, there = std::vector(from.begin(), from.end()), here = std::vector(to.begin(), to.end())](
          Token own, Bytes, Bytes) { return inner_.vector()->get_pieces(peer, key, there, here, own); });
}

core::AtomicSet FaultyNative::operations() const noexcept { return inner_.atomics()->operations(); }

Post FaultyNative::atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                          Token token) noexcept {
  const bool repeats = call.result == nullptr;
  return outer_.start({.peer = peer, .token = token, .repeats = repeats}, [=, this](Token own, Bytes, Bytes) {
    return inner_.atomics()->atomic(peer, key, offset, call, own);
  });
}

Post FaultyNative::update(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                          Token token) noexcept {
  return outer_.start({.peer = peer, .token = token}, [=, this](Token own, Bytes, Bytes) {
    return inner_.updates()->update(peer, key, offset, call, own);
  });
}

}  // namespace aqueduct::conformance
