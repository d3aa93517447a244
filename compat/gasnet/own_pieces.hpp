#pragma once

#include "compat/gasnet/state.hpp"

#include <gasnet_vis.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

// Transfers of pieces to and from an endpoint of this rank's whose segment is not published. Aqueduct does not know its memory
// yet, but a rank may reach its own at any time: it is copied.

namespace aqueduct::gasnet {

inline bool is_own_and_unpublished(const Peer& peer) noexcept {
  return peer.rank == state().me() && place_of(peer, nullptr).segment() == ~SegmentId{0};
}

struct OwnPiece {
  std::byte* at;
  std::size_t bytes;
};

/// Each gives the pieces of one side, in order; a piece of null and no bytes comes after the last.
class OwnVector {
 public:
  OwnVector(std::size_t count, const gex_Memvec_t* list) noexcept : next_(list), end_(list + count) {}
  OwnPiece next() noexcept {
    while (next_ != end_ && next_->gex_len == 0) ++next_;
    if (next_ == end_) return {};
    const gex_Memvec_t& piece = *next_++;
    return {static_cast<std::byte*>(piece.gex_addr), piece.gex_len};
  }

 private:
  const gex_Memvec_t* next_;
  const gex_Memvec_t* end_;
};

class OwnIndexed {
 public:
  OwnIndexed(std::size_t count, void* const* list, std::size_t bytes) noexcept
      : next_(list), end_(bytes == 0 ? list : list + count), bytes_(bytes) {}
  OwnPiece next() noexcept {
    return next_ == end_ ? OwnPiece{} : OwnPiece{static_cast<std::byte*>(*next_++), bytes_};
  }

 private:
  void* const* next_;
  void* const* end_;
  std::size_t bytes_;
};

/// Requires: no count is 0.
class OwnStrided {
 public:
  OwnStrided(void* base, const std::ptrdiff_t* strides, std::size_t bytes, const std::size_t* count,
             std::size_t levels)
      : at_(static_cast<std::byte*>(base)),
        strides_(strides),
        count_(count),
        bytes_(bytes),
        levels_(levels),
        many_(levels <= kFew ? 0 : levels) {}
  OwnPiece next() noexcept {
    if (ended_) return {};
    const OwnPiece piece{at_, bytes_};
    ended_ = true;
    std::size_t* const index = levels_ <= kFew ? few_ : many_.data();
    for (std::size_t level = 0; level < levels_; ++level) {  // the first is the fastest
      at_ += strides_[level];
      if (++index[level] < count_[level]) {
        ended_ = false;
        break;
      }
      at_ -= static_cast<std::ptrdiff_t>(count_[level]) * strides_[level];
      index[level] = 0;
    }
    return piece;
  }

 private:
  std::byte* at_;
  const std::ptrdiff_t* strides_;
  const std::size_t* count_;
  std::size_t bytes_;
  std::size_t levels_;
  static constexpr std::size_t kFew = 4;
  std::size_t few_[kFew] = {};
  std::vector<std::size_t> many_;  ///< in place of few_, for more levels
  bool ended_ = false;
};

template <class To, class From>
void copy_own(const char* call, To to, From from) {
  OwnPiece target{}, source{};
  for (;;) {
    if (target.bytes == 0) target = to.next();
    if (source.bytes == 0) source = from.next();
    if (target.bytes == 0 || source.bytes == 0) return;
    if (target.at == nullptr || source.at == nullptr)
      fail(call, "a null pointer to a piece of more than zero bytes");
    const std::size_t now = std::min(target.bytes, source.bytes);
    std::memmove(target.at, source.at, now);
    target = {target.at + now, target.bytes - now};
    source = {source.at + now, source.bytes - now};
  }
}

}  // namespace aqueduct::gasnet
