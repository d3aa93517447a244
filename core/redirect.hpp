#pragma once

#include <aqueduct/global_ptr.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace aqueduct::core {

/// A range of this rank's own part of a segment, and the memory of the process in which a conduit stores what peers put there
/// from now on (NativeRedirects). It saves the owner a copy of what it waits for. What has arrived before, and what other
/// conduits store, is in the segment: take_rest() copies it.
///
/// Threads: those of the conduit while it knows the redirect, the owner's before and after.
class Redirect {
 public:
  /// Requires: the conduit does not know this redirect.
  void set(SegmentId segment, std::uint64_t offset, const std::byte* there, std::size_t bytes,
           std::byte* instead) noexcept {
    segment_ = segment;
    begin_ = offset;
    end_ = offset + bytes;
    there_ = there;
    instead_ = instead;
    used_ = 0;
  }

  /// Where a put to this place is to be stored, and notes that it is. Null: in the segment. The bytes of a put arrive once.
  std::byte* place_of(SegmentId segment, std::uint64_t offset, std::size_t bytes) noexcept {
    if (segment != segment_ || offset < begin_ || offset > end_ || bytes > end_ - offset) return nullptr;
    return note({offset, offset + bytes}) ? instead_ + (offset - begin_) : nullptr;
  }

  /// Copies what is in the segment, and returns how many bytes that is. Requires: the conduit does not know this redirect any
  /// more, and all bytes have arrived.
  std::uint64_t take_rest() noexcept {
    std::uint64_t copied = 0;
    std::sort(pieces_.begin(), pieces_.begin() + used_,
              [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    std::uint64_t at = begin_;
    for (std::uint32_t i = 0; i < used_; ++i) {
      copied += copy(at, pieces_[i].begin);
      at = pieces_[i].end;
    }
    return copied + copy(at, end_);
  }

  Redirect* next = nullptr;  ///< of the conduit's

 private:
  struct Piece {
    std::uint64_t begin, end;
  };
  /// Chosen: what a few peers send at once. Each sends its pieces in order, so that most of them join the piece before.
  static constexpr std::uint32_t kMostPieces = 8;

  bool note(const Piece& piece) noexcept {
    for (std::uint32_t i = 0; i < used_; ++i) {
      Piece& known = pieces_[i];
      if (known.end != piece.begin && known.begin != piece.end) continue;
      known = {std::min(known.begin, piece.begin), std::max(known.end, piece.end)};
      return true;
    }
    if (used_ == kMostPieces) return false;
    pieces_[used_++] = piece;
    return true;
  }
  std::uint64_t copy(std::uint64_t from, std::uint64_t to) noexcept {
    if (from < to) std::memcpy(instead_ + (from - begin_), there_ + (from - begin_), to - from);
    return to - from;
  }

  SegmentId segment_ = 0;
  std::uint64_t begin_ = 0;  ///< in the segment, as the pieces
  std::uint64_t end_ = 0;
  const std::byte* there_ = nullptr;  ///< the memory of the range
  std::byte* instead_ = nullptr;
  std::array<Piece, kMostPieces> pieces_;
  std::uint32_t used_ = 0;
};

/// What peers put into a range of this rank's memory is stored elsewhere. For a conduit whose processor stores the bytes, and
/// so can choose where.
class NativeRedirects {
 public:
  virtual ~NativeRedirects() = default;
  /// Puts to the range that arrive from now on go where the redirect says, if the whole packet is in the range. Requires: no
  /// two redirects have a byte in common. No byte of a put is stored twice, and all are in place before what tells of the put.
  /// Lifetime: the redirect and both ranges until `end_redirect`.
  virtual void begin_redirect(Redirect& redirect) noexcept = 0;
  /// The conduit forgets it. Nothing is stored there when this has returned.
  virtual void end_redirect(Redirect& redirect) noexcept = 0;
};

}  // namespace aqueduct::core
