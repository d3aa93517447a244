#pragma once

#include "conduits/ibv/bounce_buffers.hpp"
#include "conduits/ibv/environment.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace aqueduct::conduits::ibv {

/// One counter of 8 bytes for each peer, into which the peer's adapter writes how many of my messages it has taken. On
/// devices whose writes complete before they have arrived there are 64 more bytes for each peer, as the target of
/// confirming reads; their contents are not used. A peer's confirming read takes 64 bytes, beginning at its counter.
///
/// siw breaks the connection if it answers a read of 32 bytes or fewer while this process is in a call that posts
/// (docs/conduits/ibv.md). So confirming reads are longer.
class CreditCounters {
 public:
  /// Registers the counters. Returns 0, or an errno.
  int open(const Environment& env) {
    ranks_ = env.ranks;
    errno = 0;
    const bool confirms = env.sizes().confirms;
    const std::size_t bytes = kBytes + (confirms ? 0 : kReadBack);
    pages_ = RegisteredPages(
        env.verbs, *env.objects.domain, bytes * std::max<std::size_t>(ranks_, 1),
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | (confirms ? 0 : IBV_ACCESS_REMOTE_READ));
    if (!pages_) return errno != 0 ? errno : ENOMEM;
    std::memset(pages_.data(), 0, ranks_ * kBytes);
    return 0;
  }

  std::uint64_t taken_by(Rank peer) const noexcept {
    auto* const counter = reinterpret_cast<std::uint64_t*>(pages_.data()) + peer;
    return std::atomic_ref(*counter).load(std::memory_order_acquire);
  }
  /// The address to which the peer writes.
  std::uint64_t address_for(Rank peer) const noexcept {
    return reinterpret_cast<std::uint64_t>(pages_.data()) + peer * kBytes;
  }
  std::uint32_t remote_key() const noexcept { return pages_.region().rkey; }
  /// Local target of a confirming read.
  ibv_sge read_to(Rank peer) const noexcept {
    return {address_for(ranks_) + std::uint64_t{peer} * kReadBack, kReadBack, pages_.region().lkey};
  }

 private:
  static constexpr std::uint32_t kBytes = sizeof(std::uint64_t);
  static constexpr std::uint32_t kReadBack = 64;

  RegisteredPages pages_;
  Rank ranks_ = 0;
};

}  // namespace aqueduct::conduits::ibv
