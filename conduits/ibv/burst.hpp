#pragma once

#include "conduits/ibv/verbs.hpp"
#include "core/conduit.hpp"

#include <array>
#include <cstring>
#include <memory>

namespace aqueduct::conduits::ibv {

struct Connection;

/// A burst: short puts to one peer with no poll in between. The device gets them as one list, with one doorbell and one
/// completion.
class Burst {
 public:
  // Chosen: two bursts fit into a queue of 128, beside the first put, which is posted alone.
  static constexpr std::size_t kMost = 63;
  /// The longest put that a burst takes.
  static constexpr std::size_t kMostBytes = 256;

  Burst() : held_(std::make_unique<std::array<Held, kMost>>()) {
    for (Held& held : *held_) {
      held.request = {};
      held.request.opcode = IBV_WR_RDMA_WRITE;
      held.request.sg_list = &held.piece;
      held.request.num_sge = 1;
    }
  }

  Connection* connection() const noexcept { return connection_; }
  bool empty() const noexcept { return count_ == 0; }
  std::size_t count() const noexcept { return count_; }
  bool full() const noexcept { return count_ == kMost; }

  /// `id`: of the work request. `at`, `key`: the target's address and its remote key. `copied`: `from` is free at
  /// return.
  struct Put {
    std::uint64_t id;
    std::uint64_t at;
    std::uint32_t key;
    core::Bytes from;
    bool copied;
  };

  /// Returns a signaled work request for a put that is posted alone. Requires: the burst is empty; at most kMostBytes.
  ibv_send_wr* alone(const Put& put) noexcept {
    ibv_send_wr& request = fill((*held_)[0], put);
    request.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
    return &request;
  }
  /// Requires: the burst is empty or of the same connection, and not full; at most kMostBytes.
  void add(Connection& connection, const Put& put) noexcept {
    ibv_send_wr& request = fill((*held_)[count_], put);
    request.send_flags = IBV_SEND_INLINE;
    if (count_ > 0) (*held_)[count_ - 1].request.next = &request;
    ++count_;
    connection_ = &connection;
  }
  /// Returns the head of the list and appends `last`, which may be null. The burst is empty afterwards; the list stays
  /// valid until the next `add`.
  ibv_send_wr* take(ibv_send_wr* last) noexcept {
    if (count_ == 0) return last;
    (*held_)[count_ - 1].request.next = last;
    count_ = 0;
    return &(*held_)[0].request;
  }
  /// The newest work request. Requires: not empty.
  ibv_send_wr& last() noexcept { return (*held_)[count_ - 1].request; }

 private:
  struct Held {
    ibv_send_wr request;
    ibv_sge piece;
    std::byte bytes[kMostBytes];
  };

  static ibv_send_wr& fill(Held& held, const Put& put) noexcept {
    held.request.wr_id = put.id;
    held.request.wr.rdma.remote_addr = put.at;
    held.request.wr.rdma.rkey = put.key;
    held.request.next = nullptr;
    const std::byte* start = put.from.data();
    if (put.copied) start = static_cast<std::byte*>(std::memcpy(held.bytes, start, put.from.size()));
    held.piece.addr = reinterpret_cast<std::uint64_t>(start);
    held.piece.length = static_cast<std::uint32_t>(put.from.size());
    return held.request;
  }

  std::unique_ptr<std::array<Held, kMost>> held_;
  std::size_t count_ = 0;
  Connection* connection_ = nullptr;
};

}  // namespace aqueduct::conduits::ibv
