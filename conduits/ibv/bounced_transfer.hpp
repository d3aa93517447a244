#pragma once

#include "conduits/ibv/outstanding_requests.hpp"
#include "core/conduit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::conduits::ibv {

/// The rest of a transfer whose local memory cannot be registered. It goes through bounce buffers, one piece at a time.
struct BouncedTransfer {
  Rank peer = 0;
  bool gets = false;
  std::uint64_t key = 0;
  std::uint64_t offset = 0;    ///< in the peer's segment
  std::byte* local = nullptr;  ///< only read from, in a put
  std::size_t bytes_left = 0;
  std::optional<core::Token> token;  ///< none: one part of an operation, whose last part has the token
  OutstandingRequest::Kind ends =
      OutstandingRequest::Kind::put;  ///< kind of the operation that the token names
  std::optional<Signal> signal;       ///< sent after the bytes

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

/// The bounced transfers of all peers. They are carried out one after the other, so that they end in the order of their
/// posts.
class BounceQueue {
 public:
  /// Chosen: further transfers are answered with `retry`.
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
  /// Removes and returns the peer's first transfer; nothing if it has none.
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
