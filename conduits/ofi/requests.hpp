#pragma once

#include "conduits/ofi/fid.hpp"
#include "conduits/ofi/local_cache.hpp"
#include "core/conduit.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace aqueduct::conduits::ofi {

/// Something that the provider is doing for this rank. Its completion points back here.
struct Request {
  enum class Kind : std::uint8_t {
    packet,    ///< a send of the layers above: they are not told when it ends
    transfer,  ///< a put, a get or an atomic, of which they are
    announced  ///< a put that a signal of its own packet is to follow
  };

  fi_context2 context;  ///< the provider's room; first, so that its address is the request's
  Request* next = nullptr;
  core::Token token = 0;
  std::uint64_t order = 0;  ///< less than that of all that began later
  Rank peer = kNoRank;
  Kind kind = Kind::packet;
  bool in_use = false;
  bool told = false;          ///< the layers above know that it is over
  bool lent = false;          ///< the provider uses memory of the caller's, not only the slot
  std::byte* slot = nullptr;  ///< bytes of its own, registered where the provider wants that
  void* result = nullptr;     ///< where bytes go that have arrived in the slot
  std::uint32_t result_bytes = 0;
  Registration* borrowed = nullptr;  ///< of a local buffer, until this is over
  Signal signal;                     ///< of an announced put
};
static_assert(offsetof(Request, context) == 0);

/// The requests of one endpoint, made at the start. As many as the provider's queue takes, so that it never overruns.
class Requests {
 public:
  /// `slot_bytes` is a multiple of 8.
  Requests(std::uint32_t count, std::size_t slot_bytes);

  /// Null: all are in use.
  Request* acquire(Rank peer, Request::Kind kind, core::Token token) noexcept {
    Request* const request = free_;
    if (request == nullptr) [[unlikely]]
      return nullptr;
    free_ = request->next;
    --left_;
    request->order = ++began_;
    request->peer = peer;
    request->kind = kind;
    request->token = token;
    request->in_use = true;
    request->told = false;
    request->lent = false;
    return request;
  }
  void release(Request& request) noexcept {
    request.in_use = false;
    request.next = free_;
    free_ = &request;
    ++left_;
  }

  /// The request that a completion's context points to; null if it is none of these.
  Request* of(void* context) noexcept {
    const bool mine = context >= requests_.get() && context < requests_.get() + count_;
    return mine ? static_cast<Request*>(context) : nullptr;
  }

  std::uint32_t left() const noexcept { return left_; }
  std::uint32_t in_use() const noexcept { return count_ - left_; }
  std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  std::span<Request> all() noexcept { return {requests_.get(), count_}; }
  /// The memory of all slots.
  core::MutableBytes slots() noexcept { return {slots_.get(), std::size_t{count_} * slot_bytes_}; }

 private:
  struct FreePages {
    void operator()(std::byte* memory) const noexcept;
  };

  std::uint32_t count_;
  std::uint32_t left_;
  std::size_t slot_bytes_;
  std::unique_ptr<Request[]> requests_;
  std::unique_ptr<std::byte, FreePages> slots_;  // touched only when used
  Request* free_ = nullptr;
  std::uint64_t began_ = 0;
};

}  // namespace aqueduct::conduits::ofi
