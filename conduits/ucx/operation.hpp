#pragma once

#include "conduits/ucx/library.hpp"
#include "conduits/ucx/wire.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <vector>

namespace aqueduct::conduits::ucx {

class Operations;

/// Copying up to this many bytes costs less than waiting for the source. Measured over TCP between two ranks: a collective operation
/// with blocks of 2 and 4 KiB takes 0.7 to 0.9 of the time, and puts by themselves as long. More would not fit one segment of UCX's
/// TCP: the rest of it would have to wait for progress.
inline constexpr std::size_t kMostInject = 4096;
/// Pieces of a put or get, whose list is stored where an injected put's bytes would be. Chosen.
inline constexpr std::size_t kMostPieces = 64;
static_assert(kMostPieces * sizeof(ucp_dt_iov_t) <= kMostInject);

/// An outstanding operation of the layers above.
struct Operation {
  Operation* next = nullptr;  ///< in the free list, or in a list of puts that one flush completes
  Operations* owner = nullptr;
  core::Token token = 0;
  Rank peer = kNoRank;
  bool in_use = false;
  bool abandoned = false;                   ///< its end has been reported, although UCX has not completed it
  std::uint32_t index = 0;                  ///< in the pool
  std::uint32_t generation = 0;             ///< rises with each use, so that stale answers are recognised
  std::uint8_t awaited = 0;                 ///< of a put by message: kSend, kAnswer, both or none
  static constexpr std::uint8_t kSend = 1;  ///< UCX is still sending
  static constexpr std::uint8_t kAnswer = 2;  ///< the target has not answered
  std::uint8_t gets = 0;                      ///< outstanding get calls of UCX
  Status outcome;                             ///< what the target has answered, or how a piece has failed
  /// Room for the head of a put by message, and then kMostInject bytes for an injected source or a list of pieces.
  std::byte* head = nullptr;
  std::byte* inject() const noexcept { return head + sizeof(PutHead); }
};

/// The parameters of a call of UCX whose `callback` gets the operation.
inline ucp_request_param_t param_for(Operation& operation, ucp_send_nbx_callback_t callback) noexcept {
  ucp_request_param_t param;
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = callback;
  param.user_data = &operation;
  return param;
}

/// The pool of an endpoint's operations, made once. The operation that was freed last is used first: it is still in the
/// cache.
class OperationPool {
 public:
  OperationPool(Operations& owner, std::size_t count) : owner_(owner) { add(count); }

  /// Replaces `count` entries that UCX never completes, if there is memory.
  void replace(std::size_t count) noexcept try { add(count); } catch (const std::bad_alloc&) {
  }

  /// Null: no room.
  Operation* acquire(Rank peer, core::Token token) noexcept {
    Operation* const one = free_;
    if (one == nullptr) return nullptr;
    free_ = one->next;
    one->next = nullptr;
    one->peer = peer;
    one->token = token;
    one->in_use = true;
    ++in_use_;
    return one;
  }
  void release(Operation& one) noexcept {
    one.in_use = one.abandoned = false;
    one.awaited = 0;
    one.outcome = {};
    ++one.generation;
    one.next = free_;
    free_ = &one;
    --in_use_;
  }
  /// Null: that operation is over.
  Operation* find(std::uint32_t index, std::uint32_t generation) noexcept {
    if (index >= all_.size() || !all_[index].in_use || all_[index].generation != generation) return nullptr;
    return &all_[index];
  }
  std::size_t in_use() const noexcept { return in_use_; }
  std::size_t available() const noexcept { return all_.size() - in_use_; }
  std::deque<Operation>& all() noexcept { return all_; }

 private:
  void add(std::size_t count) {
    constexpr std::size_t kRoom = sizeof(PutHead) + kMostInject;
    static_assert(kRoom % alignof(ucp_dt_iov_t) == 0 && sizeof(PutHead) % alignof(ucp_dt_iov_t) == 0);
    std::byte* room = rooms_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(count * kRoom)).get();
    for (; count-- > 0; room += kRoom) {
      Operation& one = all_.emplace_back();
      one.owner = &owner_;
      one.index = static_cast<std::uint32_t>(all_.size() - 1);
      one.head = room;
      one.next = free_;
      free_ = &one;
    }
  }

  Operations& owner_;
  std::vector<std::unique_ptr<std::byte[]>> rooms_;
  std::deque<Operation> all_;  // stable addresses
  Operation* free_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace aqueduct::conduits::ucx
