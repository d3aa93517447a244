#pragma once

#include "core/conduit.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <vector>

namespace aqueduct::core {

/// The answers that a conduit's progress thread owes for what it did in its owner's place, while there is no room to send
/// them.
class AsideAnswers {
 public:
  bool empty() const noexcept { return kept_.empty(); }

  /// Does what a packet asks for, if it needs nobody but `memory(id)`, this rank's part of a segment, and calls
  /// `send(to, answer)`, or keeps the answer. What the owner is still to see of the packet is left in `packet`; false: all
  /// of it.
  template <class Memory, class Send>
  bool serve(Aside aside, Rank from, Bytes& packet, const Memory& memory, const Send& send) noexcept {
    if (aside == nullptr || !has_room()) return false;
    const auto find = [](const void* what, SegmentId id) noexcept {
      return (*static_cast<const Memory*>(what))(id);
    };
    Kept one{from, {}};
    if (!aside(packet, find, &memory, one.done)) return false;
    rest_ = one.done.rest;  // outlives this call
    packet = {rest_.data(), one.done.rest_bytes};
    if (send(from, one.answer()) == Post::Kind::retry) kept_.push_back(one);
    return true;
  }

  /// Tries those that are kept once more, in order; one that cannot be sent at all is dropped: its peer is gone.
  template <class Send>
  void send_again(const Send& send) noexcept {
    std::erase_if(kept_, [&](const Kept& one) { return send(one.to, one.answer()) != Post::Kind::retry; });
  }

 private:
  struct Kept {
    Rank to;
    AsideDone done;
    Bytes answer() const noexcept { return {done.answer.data(), done.answer_bytes}; }
  };

  bool has_room() noexcept try {
    if (kept_.size() == kept_.capacity()) kept_.reserve(std::max<std::size_t>(16, 2 * kept_.size()));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  std::vector<Kept> kept_;
  alignas(8) std::array<std::byte, AsideDone::kMostRest> rest_{};
};

}  // namespace aqueduct::core
