#pragma once

#include "conduits/ofi/fid.hpp"
#include "conduits/ofi/local_cache.hpp"
#include "core/conduit.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace aqueduct::conduits::ofi {

/// Chosen: pieces in one operation; no provider tried so far takes more.
inline constexpr std::size_t kMostPieces = 8;

/// One outstanding operation. Its completion's context points back to it.
struct Request {
  enum class Kind : std::uint8_t {
    packet,          ///< a send; its completion is not reported to the layers above
    transfer,        ///< a put or an atomic; its completion is reported
    fetch,           ///< a get; the same, but no peer waits for it
    put_then_signal  ///< a put whose signal follows in a packet of its own
  };

  fi_context2 context;  ///< for the provider's use; first, so that its address is the request's
  Request* next = nullptr;
  core::Token token = 0;
  std::uint64_t order = 0;  ///< rises with each request
  Rank peer = kNoRank;
  Kind kind = Kind::packet;
  bool in_use = false;
  bool reported = false;            ///< its end has been reported to the layers above
  bool replaced = false;            ///< another one has taken its place
  bool uses_caller_memory = false;  ///< the provider uses the caller's memory, not only the slot
  std::byte* slot = nullptr;        ///< its own memory, registered where the provider wants that
  void* descriptor = nullptr;       ///< of the slot's registration; null: not registered
  void* result = nullptr;           ///< where to copy the bytes that arrive in the slot
  std::uint32_t result_bytes = 0;
  /// Registrations of the caller's buffers, given back at the end; the first null one ends the list.
  std::array<Registration*, kMostPieces> borrowed{};
  Signal signal;  ///< of a put_then_signal
};
static_assert(offsetof(Request, context) == 0);

/// The pool of an endpoint's requests, made at the start: as many as the provider's queue takes, so that it never
/// overruns.
///
/// Requests to dead peers that the provider never completes are replaced.
class Requests {
 public:
  /// `slot_bytes` is a multiple of 8.
  Requests(std::uint32_t count, std::size_t slot_bytes);

  /// Sets the descriptor of the slots made at the start.
  void describe(void* descriptor) noexcept { describe(blocks_.front(), descriptor); }
  /// Adds `count` requests in place of those marked `replaced`, which are not used again even if they end.
  /// `registers(slots, descriptor)` may refuse. False: it did, or there is no memory, and nothing has changed.
  template <class Register>
  bool grow(std::uint32_t count, const Register& registers) noexcept {
    void* descriptor = nullptr;
    if (!add_block(count)) return false;
    if (!registers(slots_of(blocks_.back()), descriptor)) {
      blocks_.pop_back();
      return false;
    }
    hand_out(blocks_.back(), descriptor);
    return true;
  }

  /// Null: all are in use.
  Request* acquire(Rank peer, Request::Kind kind, core::Token token) noexcept {
    Request* const request = free_;
    if (request == nullptr) [[unlikely]]
      return nullptr;
    free_ = request->next;
    --available_;
    request->order = ++began_;
    request->peer = peer;
    request->kind = kind;
    request->token = token;
    request->in_use = true;
    request->reported = false;
    request->uses_caller_memory = false;
    return request;
  }
  void release(Request& request) noexcept {
    request.in_use = false;
    if (request.replaced) [[unlikely]]
      return;
    request.next = free_;
    free_ = &request;
    ++available_;
  }

  /// The request that a completion's context points to; null if it is none of these.
  Request* of(void* context) noexcept {
    for (const Block& block : blocks_) {
      const bool mine = context >= block.requests.get() && context < block.requests.get() + block.count;
      if (mine) return static_cast<Request*>(context);
    }
    return nullptr;
  }

  std::uint32_t available() const noexcept { return available_; }
  std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  template <class Use>
  void for_each(const Use& use) noexcept {
    for (const Block& block : blocks_) {
      for (Request& request : std::span(block.requests.get(), block.count)) use(request);
    }
  }
  /// The memory of the slots made at the start.
  core::MutableBytes slots() noexcept { return slots_of(blocks_.front()); }

 private:
  struct FreePages {
    void operator()(std::byte* memory) const noexcept;
  };

  struct Block {
    std::uint32_t count = 0;
    std::unique_ptr<Request[]> requests;
    std::unique_ptr<std::byte, FreePages> slots;  // the system gives pages when they are used
  };

  core::MutableBytes slots_of(const Block& block) const noexcept {
    return {block.slots.get(), std::size_t{block.count} * slot_bytes_};
  }
  bool add_block(std::uint32_t count) noexcept;
  void hand_out(Block& block, void* descriptor) noexcept;
  void describe(Block& block, void* descriptor) noexcept;

  std::size_t slot_bytes_;
  std::vector<Block> blocks_;  // one, unless requests had to be replaced
  std::uint32_t available_ = 0;
  Request* free_ = nullptr;
  std::uint64_t began_ = 0;
};

}  // namespace aqueduct::conduits::ofi
