#pragma once

#include "conduits/ibv/outstanding_requests.hpp"
#include "core/conduit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::conduits::ibv {

/// What is left of a transfer whose local memory cannot be registered, now or ever: it goes by way of slots, a piece each.
struct BouncedTransfer {
  Rank peer = 0;
  bool gets = false;
  std::uint64_t key = 0;
  std::uint64_t offset = 0;    ///< in the peer's segment
  std::byte* local = nullptr;  ///< only read from, in a put
  std::size_t bytes_left = 0;
  std::optional<core::Token> token;  ///< none: a part of an operation, the end of which comes behind it
  OutstandingRequest::Kind ends = OutstandingRequest::Kind::put;  ///< what the token is of
  std::optional<Signal> signal;                                   ///< follows the bytes

  static BouncedTransfer put(Rank to, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                             std::optional<core::Token> token) noexcept {
    return {to,
            false,
            key,
            offset,
            const_cast<std::byte*>(from.data()),
            from.size(),
            token,
            OutstandingRequest::Kind::put,
            {}};
  }
  static BouncedTransfer get(Rank from, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                             std::optional<core::Token> token) noexcept {
    return {from, true, key, offset, to.data(), to.size(), token, OutstandingRequest::Kind::get, {}};
  }
};

/// Those of all peers. They go on one after the other, so that what is behind something also ends after it.
class BounceQueue {
 public:
  /// Chosen: who comes later waits.
  static constexpr std::size_t kMost = 32;

  BounceQueue() { all_.reserve(kMost); }

  bool empty() const noexcept { return all_.empty(); }
  std::size_t room() const noexcept { return kMost - all_.size(); }
  bool has(Rank peer) const noexcept {
    return std::ranges::find(all_, peer, &BouncedTransfer::peer) != all_.end();
  }
  void add(const BouncedTransfer& one) noexcept { all_.push_back(one); }
  BouncedTransfer& front() noexcept { return all_.front(); }
  void end_front() noexcept { all_.erase(all_.begin()); }
  /// The first of a peer's, which is none any more; nothing if there is none.
  std::optional<BouncedTransfer> take(Rank peer) noexcept {
    const auto found = std::ranges::find(all_, peer, &BouncedTransfer::peer);
    if (found == all_.end()) return std::nullopt;
    const BouncedTransfer one = *found;
    all_.erase(found);
    return one;
  }

 private:
  std::vector<BouncedTransfer> all_;
};

}  // namespace aqueduct::conduits::ibv
