#pragma once

#include <aqueduct/am_prepared.hpp>

#include "core/endpoint_state.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace aqueduct::detail {

/// The room for one negotiated payload, from prepare to commit.
struct Prepared {
  Rank to = kNoRank;
  GlobalPtr<std::byte> place;      ///< of a long message: the target
  std::span<std::byte> buffer;     ///< lent to the caller: a buffer of the pool, or the mapped target itself
  const std::byte* own = nullptr;  ///< the caller's buffer instead
  std::size_t size = 0;            ///< the room
  bool is_long = false;
  bool has_place = false;
  bool is_reply = false;
  bool immediate = false;
};

}  // namespace aqueduct::detail

namespace aqueduct::am {

/// The room for negotiated payloads: AQUEDUCT_PREPARED of them, and one more that only replies use, so that a handler
/// always finds one. Each buffer is allocated at its first use.
class PreparedPool {
 public:
  PreparedPool(std::size_t count, std::size_t bytes);
  /// Handlers under the lock run one at a time, so one buffer of their own is always free. Those outside it have another.
  enum class For : std::uint8_t { request, reply, parallel_reply };
  /// Null if all are in use.
  detail::Prepared* take(For who) noexcept;
  /// Gives it the first `bytes` bytes of a buffer of the pool. Throws std::bad_alloc.
  void lend_buffer(detail::Prepared& prepared, std::size_t bytes);
  void give_back(detail::Prepared& prepared) noexcept;
  std::size_t buffer_bytes() const noexcept { return bytes_; }
  /// True at the first call: who asks again and again for a buffer would fill the log.
  bool names_exhaustion() noexcept { return std::exchange(exhaustion_is_new_, false); }

 private:
  std::size_t bytes_;
  std::vector<detail::Prepared> all_;  // the last two are for replies: in parallel handlers, and in others
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<detail::Prepared*> free_;
  bool parallel_reply_free_ = true;
  bool reply_free_ = true;
  bool exhaustion_is_new_ = true;
};

}  // namespace aqueduct::am
