#pragma once

#include "conduits/ibv/verbs.hpp"
#include "core/conduit.hpp"

#include <array>
#include <cstring>
#include <memory>

namespace aqueduct::conduits::ibv {

struct Link;

/// Short puts to one peer that follow one another without a poll between: they are handed to the device together, with
/// one doorbell and one completion.
class Burst {
 public:
  // Chosen: two of them fit a queue of 128 beside the first put, which goes alone.
  static constexpr std::size_t kMost = 63;
  /// Of a put that is held.
  static constexpr std::size_t kMostBytes = 256;

  Burst() : held_(std::make_unique<std::array<Held, kMost>>()) {}

  Link* link() const noexcept { return link_; }
  bool empty() const noexcept { return count_ == 0; }
  bool full() const noexcept { return count_ == kMost; }

  /// Requires: empty, or of the same link; not full; no more than kMostBytes. `copied`: the bytes are taken now.
  void add(Link& link, const ibv_send_wr& request, core::Bytes from, bool copied) noexcept {
    Held& held = (*held_)[count_];
    held.request = request;
    const std::byte* start = from.data();
    if (copied) start = static_cast<std::byte*>(std::memcpy(held.bytes, from.data(), from.size()));
    held.piece = {reinterpret_cast<std::uint64_t>(start), static_cast<std::uint32_t>(from.size()), 0};
    held.request.sg_list = &held.piece;
    held.request.num_sge = 1;
    held.request.next = nullptr;
    if (count_ > 0) (*held_)[count_ - 1].request.next = &held.request;
    ++count_;
    link_ = &link;
  }
  /// The first of the list, which `last` ends; the burst is empty then, but what it held is there until the next `add`.
  ibv_send_wr* take(ibv_send_wr* last) noexcept {
    if (count_ == 0) return last;
    (*held_)[count_ - 1].request.next = last;
    count_ = 0;
    return &(*held_)[0].request;
  }
  /// Of what is held the last. Requires: not empty.
  ibv_send_wr& last() noexcept { return (*held_)[count_ - 1].request; }

 private:
  struct Held {
    ibv_send_wr request;
    ibv_sge piece;
    std::byte bytes[kMostBytes];
  };

  std::unique_ptr<std::array<Held, kMost>> held_;
  std::size_t count_ = 0;
  Link* link_ = nullptr;
};

}  // namespace aqueduct::conduits::ibv
