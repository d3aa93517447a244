#pragma once

#include "compat/gasnet/own_pieces.hpp"
#include "compat/gasnet/state.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

// Transfers of pieces to and from memory that is mapped here, copied by the layer: a list of short pieces takes less time than
// the library's checks and plans of one.

namespace aqueduct::gasnet {

/// Where the bound segment of a peer is mapped here. Finds nothing if it is not. Looks in checked builds only whether bytes are inside,
/// as aqg_find does.
class MappedPart {
 public:
  explicit MappedPart(const Peer& peer) noexcept {
    const State& s = state();
    if (peer.remote >= kEndpoints || peer.rank >= s.ep.ranks() || s.places[peer.remote] == nullptr) return;
    look_at(s.places[peer.remote][peer.rank]);
  }
  /// That of a member of a team, if it is not this rank: in a few instructions. Finds nothing for a pair of endpoints.
  MappedPart(gex_TM_t tm, gex_Rank_t rank) noexcept {
    if (aqg_is_pair(tm) || rank >= tm->size) return;
#ifdef AQUEDUCT_CHECKED
    if (rank != tm->rank) look_at(*aqg_place_of(tm, rank));
#else
    const std::uintptr_t shift =
        __atomic_load_n(&tm->shifts[aqg_rank_in_job(tm, rank)].many, __ATOMIC_RELAXED);
    is_mapped_ = shift != 0;
    shift_ = shift - 1;
#endif
  }
  bool is_mapped() const noexcept { return is_mapped_; }
  /// The address here. Null: it is not mapped, or (checked builds) these bytes of the owner's are not all inside.
  std::byte* find(const void* owners, std::size_t bytes) const noexcept {
    return is_mapped_ && is_inside(owners, bytes) ? at(owners) : nullptr;
  }
  /// The same, for loops. Requires: is_mapped.
  std::byte* find_next(const void* owners, std::size_t bytes) const noexcept {
    return is_inside(owners, bytes) ? at(owners) : nullptr;
  }

#ifdef AQUEDUCT_CHECKED
  static constexpr bool kChecks = true;
#else
  static constexpr bool kChecks = false;
#endif

 private:
  void look_at(const aqg_place& place) noexcept {
    bytes_ = __atomic_load_n(&place.window->bytes, __ATOMIC_ACQUIRE);
    const char* const here = __atomic_load_n(&place.window->base, __ATOMIC_RELAXED);
    owners_ = place.base;
    is_mapped_ = here != nullptr;
    shift_ = reinterpret_cast<std::uintptr_t>(here) - owners_;
  }
  bool is_inside(const void* owners, std::size_t bytes) const noexcept {
    const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(owners) - owners_;
    return !kChecks || (offset <= bytes_ && bytes <= bytes_ - offset);
  }
  std::byte* at(const void* owners) const noexcept {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(owners) + shift_);
  }

  bool is_mapped_ = false;
  std::uintptr_t shift_ = 0;  ///< from an address of the owner's to the one here
  std::uint64_t bytes_ = 0;   ///< checked builds: what is mapped, and from where on at the owner
  std::uint64_t owners_ = 0;
};

/// The pieces of the peer's side, by their addresses here. Null: outside.
template <class Pieces>
class MappedPieces {
 public:
  MappedPieces(const MappedPart& part, const Pieces& pieces) noexcept : part_(part), pieces_(pieces) {}
  OwnPiece next() noexcept {
    OwnPiece piece = pieces_.next();
    if (piece.bytes != 0) piece.at = part_.find(piece.at, piece.bytes);
    return piece;
  }

 private:
  MappedPart part_;
  Pieces pieces_;
};

/// Copies the pieces by `copy(to, from, bytes)`. False: something is wrong with them, and the library shall say what; a part may
/// have been copied.
template <class To, class From, class Copy>
bool copy_pieces(To to, From from, Copy copy) {
  OwnPiece target{}, source{};
  for (;;) {
    if (target.bytes == 0) target = to.next();
    if (source.bytes == 0) source = from.next();
    if (target.bytes == 0 || source.bytes == 0) return target.bytes == source.bytes;
    if (target.at == nullptr || source.at == nullptr) [[unlikely]]
      return false;
    const std::size_t now = std::min(target.bytes, source.bytes);
    copy(target.at, source.at, now);
    target = {target.at + now, target.bytes - now};
    source = {source.at + now, source.bytes - now};
  }
}

/// Puts pieces to a peer whose memory is mapped here. False: it is not, or as copy_pieces.
template <class To, class From>
bool put_mapped(const Peer& peer, const To& to, const From& from) {
  const MappedPart part(peer);
  if (!part.is_mapped()) return false;
  const MappedPieces there(part, to);
  if (peer.rank == state().me()) return copy_pieces(there, from, detail::move_bytes);
  return copy_pieces(there, from, detail::put_bytes);
}
/// Gets pieces from another rank whose memory is mapped here. Those of this rank's own are the library's: a loop on them must
/// make progress.
template <class To, class From>
bool get_mapped(const Peer& peer, const To& to, const From& from) {
  if (peer.rank == state().me()) return false;
  const MappedPart part(peer);
  return part.is_mapped() && copy_pieces(to, MappedPieces(part, from), detail::copy_bytes);
}

/// Copies of pieces of one length; those of a word are apart, so that loops of them need not ask.
template <auto CopyAny>
struct CopyWord {
  void operator()(void* to, const void* from) const noexcept { CopyAny(to, from, 8); }
};
template <auto CopyAny>
struct CopyBytes {
  std::size_t bytes;
  void operator()(void* to, const void* from) const noexcept { CopyAny(to, from, bytes); }
};

/// Pieces that are too long for a few loads and short enough for memcpy: their loops need not ask either.
inline bool suits_memcpy(std::size_t bytes) noexcept {
  return bytes > AQ_FEW_BYTES && bytes <= AQG_MEMCPY_BYTES;
}
struct CopyByMemcpy {
  std::size_t bytes;
  void operator()(void* to, const void* from) const noexcept { std::memcpy(to, from, bytes); }
};

template <class Copy>
[[gnu::always_inline]] inline bool put_each(const MappedPart& part, std::size_t bytes, std::size_t count,
                                            void* const* to, void* const* from, Copy copy) {
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const at = part.find_next(to[i], bytes);
    if (at == nullptr || from[i] == nullptr) [[unlikely]]
      return false;
    copy(at, from[i]);
  }
  return true;
}
template <class Copy>
[[gnu::always_inline]] inline bool get_each(const MappedPart& part, std::size_t bytes, std::size_t count,
                                            void* const* to, void* const* from, Copy copy) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* const at = part.find_next(from[i], bytes);
    if (at == nullptr || to[i] == nullptr) [[unlikely]]
      return false;
    copy(to[i], at);
  }
  return true;
}
/// Lists of equal pieces on both sides, as most are, in a loop of few instructions. False: as copy_pieces, or the lists are not of
/// that kind.
[[gnu::always_inline]] inline bool put_equal(const MappedPart& part, std::size_t to_count, void* const* to,
                                             std::size_t to_bytes, std::size_t from_count, void* const* from,
                                             std::size_t from_bytes) {
  if (to_count != from_count || to_bytes != from_bytes || !part.is_mapped()) return false;
  if (to_bytes == 8) return put_each(part, to_bytes, to_count, to, from, CopyWord<detail::put_bytes>{});
  if (suits_memcpy(to_bytes)) return put_each(part, to_bytes, to_count, to, from, CopyByMemcpy{to_bytes});
  return put_each(part, to_bytes, to_count, to, from, CopyBytes<detail::put_bytes>{to_bytes});
}
[[gnu::always_inline]] inline bool get_equal(const MappedPart& part, std::size_t to_count, void* const* to,
                                             std::size_t to_bytes, std::size_t from_count, void* const* from,
                                             std::size_t from_bytes) {
  if (to_count != from_count || to_bytes != from_bytes || !part.is_mapped()) return false;
  if (to_bytes == 8) return get_each(part, to_bytes, to_count, to, from, CopyWord<detail::copy_bytes>{});
  if (suits_memcpy(to_bytes)) return get_each(part, to_bytes, to_count, to, from, CopyByMemcpy{to_bytes});
  return get_each(part, to_bytes, to_count, to, from, CopyBytes<detail::copy_bytes>{to_bytes});
}
/// The same of vectors, whose pieces differ in length among themselves.
[[gnu::always_inline]] inline bool put_equal(const MappedPart& part, std::size_t to_count,
                                             const gex_Memvec_t* to, std::size_t from_count,
                                             const gex_Memvec_t* from) {
  if (to_count != from_count || !part.is_mapped()) return false;
  for (std::size_t i = 0; i < to_count; ++i) {
    std::byte* const at = part.find(to[i].gex_addr, to[i].gex_len);
    if (to[i].gex_len != from[i].gex_len || at == nullptr || from[i].gex_addr == nullptr) return false;
    detail::put_bytes(at, from[i].gex_addr, to[i].gex_len);
  }
  return true;
}
[[gnu::always_inline]] inline bool get_equal(const MappedPart& part, std::size_t to_count,
                                             const gex_Memvec_t* to, std::size_t from_count,
                                             const gex_Memvec_t* from) {
  if (to_count != from_count || !part.is_mapped()) return false;
  for (std::size_t i = 0; i < to_count; ++i) {
    const std::byte* const at = part.find(from[i].gex_addr, from[i].gex_len);
    if (to[i].gex_len != from[i].gex_len || at == nullptr || to[i].gex_addr == nullptr) return false;
    detail::copy_bytes(to[i].gex_addr, at, to[i].gex_len);
  }
  return true;
}

}  // namespace aqueduct::gasnet
