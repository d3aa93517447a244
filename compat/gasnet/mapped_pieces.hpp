#pragma once

#include "compat/gasnet/own_pieces.hpp"
#include "compat/gasnet/state.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

// Transfers of pieces to and from memory that is mapped here, copied by the layer: a list of short pieces takes less time than
// the library's checks and plans of one.

namespace aqueduct::gasnet {

/// Where the bound segment of a peer is mapped here. Finds nothing if it is not.
class MappedPart {
 public:
  explicit MappedPart(const Peer& peer) noexcept {
    const State& s = state();
    if (peer.remote >= kEndpoints || peer.rank >= s.ep.ranks() || s.places[peer.remote] == nullptr) return;
    const aqg_place& place = s.places[peer.remote][peer.rank];
    bytes_ = __atomic_load_n(&place.window->bytes, __ATOMIC_ACQUIRE);
    here_ = __atomic_load_n(&place.window->base, __ATOMIC_RELAXED);
    owners_ = place.base;
  }
  bool is_mapped() const noexcept { return here_ != nullptr; }
  /// The address here; null if these bytes of the owner's are not all inside.
  std::byte* find(const void* owners, std::size_t bytes) const noexcept {
    const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(owners) - owners_;
    if (here_ == nullptr || offset > bytes_ || bytes > bytes_ - offset) return nullptr;
    return reinterpret_cast<std::byte*>(here_) + offset;
  }

 private:
  char* here_ = nullptr;
  std::uint64_t bytes_ = 0;
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
  return copy_pieces(there, from, detail::write_bytes);
}
/// Gets pieces from another rank whose memory is mapped here. Those of this rank's own are the library's: a loop on them must
/// make progress.
template <class To, class From>
bool get_mapped(const Peer& peer, const To& to, const From& from) {
  if (peer.rank == state().me()) return false;
  const MappedPart part(peer);
  return part.is_mapped() && copy_pieces(to, MappedPieces(part, from), detail::copy_bytes);
}

/// Lists of equal pieces on both sides, as most are, in a loop of few instructions. `pair(i)` is the piece of the one side and of
/// the other. False: as copy_pieces, or the lists are not of that kind.
template <class Pair>
bool put_equal(const Peer& peer, std::size_t to_count, std::size_t from_count, Pair pair) {
  if (to_count != from_count || peer.rank == state().me()) return false;
  const MappedPart part(peer);
  for (std::size_t i = 0; i < to_count; ++i) {
    const std::pair<OwnPiece, OwnPiece> one = pair(i);
    std::byte* const at = part.find(one.first.at, one.first.bytes);
    if (one.first.bytes != one.second.bytes || at == nullptr || one.second.at == nullptr) return false;
    detail::write_bytes(at, one.second.at, one.second.bytes);
  }
  return to_count != 0;
}
template <class Pair>
bool get_equal(const Peer& peer, std::size_t to_count, std::size_t from_count, Pair pair) {
  if (to_count != from_count || peer.rank == state().me()) return false;
  const MappedPart part(peer);
  for (std::size_t i = 0; i < to_count; ++i) {
    const std::pair<OwnPiece, OwnPiece> one = pair(i);
    const std::byte* const at = part.find(one.second.at, one.second.bytes);
    if (one.first.bytes != one.second.bytes || at == nullptr || one.first.at == nullptr) return false;
    detail::copy_bytes(one.first.at, at, one.first.bytes);
  }
  return to_count != 0;
}
/// The pairs of two lists, for those.
inline auto pairs_of(const gex_Memvec_t* to, const gex_Memvec_t* from) noexcept {
  return [to, from](std::size_t i) -> std::pair<OwnPiece, OwnPiece> {
    return {{static_cast<std::byte*>(to[i].gex_addr), to[i].gex_len},
            {static_cast<std::byte*>(from[i].gex_addr), from[i].gex_len}};
  };
}
inline auto pairs_of(void* const* to, std::size_t to_bytes, void* const* from,
                     std::size_t from_bytes) noexcept {
  return [=](std::size_t i) -> std::pair<OwnPiece, OwnPiece> {
    return {{static_cast<std::byte*>(to[i]), to_bytes}, {static_cast<std::byte*>(from[i]), from_bytes}};
  };
}

/// A strided transfer without the dimensions, from the fastest on, that are contiguous on both sides, and without the slowest
/// ones that have one element.
struct Merged {
  Merged(const std::ptrdiff_t* to, const std::ptrdiff_t* from, std::size_t element, const std::size_t* counts,
         std::size_t dimensions) noexcept
      : to_strides(to), from_strides(from), bytes(element), count(counts), levels(dimensions) {
    while (levels != 0 && (*count == 1 || (is_next(*to_strides) && is_next(*from_strides)))) {
      // More bytes than there can be: the library refuses the call.
      if (__builtin_mul_overflow(bytes, *count, &bytes)) bytes = SIZE_MAX;
      ++to_strides, ++from_strides, ++count, --levels;
    }
    while (levels != 0 && count[levels - 1] == 1) --levels;
  }
  bool is_next(std::ptrdiff_t stride) const noexcept { return stride == static_cast<std::ptrdiff_t>(bytes); }
  /// The library's plan of many elements is faster. Measured: at 16 of 8 to 64 bytes both are about level.
  bool has_few_elements() const noexcept {
    constexpr std::size_t kFew = 12;
    std::size_t elements = 1;
    for (std::size_t i = 0; i < levels; ++i) {
      if (count[i] > kFew / elements) return false;
      elements *= count[i];
    }
    return true;
  }

  const std::ptrdiff_t* to_strides;
  const std::ptrdiff_t* from_strides;
  std::size_t bytes;  ///< of an element
  const std::size_t* count;
  std::size_t levels;
};

/// Calls `copy(to, from)` for each element; stops, and returns false, when it does. At most one dimension.
template <class Copy>
bool each_element(const Merged& few, void* to, void* from, Copy copy) {
  auto* target = static_cast<std::byte*>(to);
  auto* source = static_cast<std::byte*>(from);
  if (few.levels == 0) return copy(target, source);
  for (std::size_t left = *few.count; left != 0;
       --left, target += *few.to_strides, source += *few.from_strides) {
    if (!copy(target, source)) return false;
  }
  return true;
}
/// Strided transfers as put_mapped and get_mapped; most often there is one dimension, or none.
inline bool put_mapped(const Peer& peer, const Merged& few, void* to, void* from) {
  if (few.levels > 1 || peer.rank == state().me())
    return put_mapped(peer, OwnStrided(to, few.to_strides, few.bytes, few.count, few.levels),
                      OwnStrided(from, few.from_strides, few.bytes, few.count, few.levels));
  const MappedPart part(peer);
  if (!part.is_mapped() || from == nullptr) return false;
  return each_element(few, to, from, [&](std::byte* target, const std::byte* source) {
    std::byte* const at = part.find(target, few.bytes);
    if (at != nullptr) detail::write_bytes(at, source, few.bytes);
    return at != nullptr;
  });
}
inline bool get_mapped(const Peer& peer, const Merged& few, void* to, void* from) {
  if (few.levels > 1 || peer.rank == state().me())
    return get_mapped(peer, OwnStrided(to, few.to_strides, few.bytes, few.count, few.levels),
                      OwnStrided(from, few.from_strides, few.bytes, few.count, few.levels));
  const MappedPart part(peer);
  if (!part.is_mapped() || to == nullptr) return false;
  return each_element(few, to, from, [&](std::byte* target, const std::byte* source) {
    const std::byte* const at = part.find(source, few.bytes);
    if (at != nullptr) detail::copy_bytes(target, at, few.bytes);
    return at != nullptr;
  });
}

}  // namespace aqueduct::gasnet
