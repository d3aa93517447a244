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

/// Chosen: pieces of local memory in one operation; no provider here takes more.
inline constexpr std::size_t kMostPieces = 8;

/// Something that the provider is doing for this rank. Its completion points back here.
struct Request {
  enum class Kind : std::uint8_t {
    packet,    ///< a send of the layers above: they are not told when it ends
    transfer,  ///< a put or an atomic, of which they are
    fetch,     ///< a get: as that, and nobody else waits for it
    announced  ///< a put that a signal of its own packet is to follow
  };

  fi_context2 context;  ///< the provider's room; first, so that its address is the request's
  Request* next = nullptr;
  core::Token token = 0;
  std::uint64_t order = 0;  ///< less than that of all that began later
  Rank peer = kNoRank;
  Kind kind = Kind::packet;
  bool in_use = false;
  bool told = false;           ///< the layers above know that it is over
  bool replaced = false;       ///< there is another in its place
  bool lent = false;           ///< the provider uses memory of the caller's, not only the slot
  std::byte* slot = nullptr;   ///< bytes of its own, registered where the provider wants that
  void* descriptor = nullptr;  ///< of the slot's registration; null: it has none
  void* result = nullptr;      ///< where bytes go that have arrived in the slot
  std::uint32_t result_bytes = 0;
  /// Of local buffers, until this is over; null from the first that is null on.
  std::array<Registration*, kMostPieces> borrowed{};
  Signal signal;  ///< of an announced put
};
static_assert(offsetof(Request, context) == 0);

/// The requests of one endpoint, made at the start. As many as the provider's queue takes, so that it never overruns.
///
/// Those that the provider keeps for good, of dead peers, are replaced.
class Requests {
 public:
  /// `slot_bytes` is a multiple of 8.
  Requests(std::uint32_t count, std::size_t slot_bytes);

  /// Says what the provider calls the memory of the slots made at the start.
  void describe(void* descriptor) noexcept { describe(blocks_.front(), descriptor); }
  /// So many more, for those marked `replaced`, which are used no more when they end after all. `registers(slots,
  /// descriptor)` may refuse. False: it did, or there is no memory, and nothing has changed.
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
    if (request.replaced) [[unlikely]]
      return;
    request.next = free_;
    free_ = &request;
    ++left_;
  }

  /// The request that a completion's context points to; null if it is none of these.
  Request* of(void* context) noexcept {
    for (const Block& block : blocks_) {
      const bool mine = context >= block.requests.get() && context < block.requests.get() + block.count;
      if (mine) return static_cast<Request*>(context);
    }
    return nullptr;
  }

  std::uint32_t left() const noexcept { return left_; }
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
    std::unique_ptr<std::byte, FreePages> slots;  // touched only when used
  };

  core::MutableBytes slots_of(const Block& block) const noexcept {
    return {block.slots.get(), std::size_t{block.count} * slot_bytes_};
  }
  bool add_block(std::uint32_t count) noexcept;
  void hand_out(Block& block, void* descriptor) noexcept;
  void describe(Block& block, void* descriptor) noexcept;

  std::size_t slot_bytes_;
  std::vector<Block> blocks_;  // one, while no peer has died that the provider keeps
  std::uint32_t left_ = 0;
  Request* free_ = nullptr;
  std::uint64_t began_ = 0;
};

}  // namespace aqueduct::conduits::ofi
