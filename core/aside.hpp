#pragma once

#include <aqueduct/global_ptr.hpp>
#include <aqueduct/rank.hpp>

#include "core/post.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <vector>

namespace aqueduct::core {

/// The result of an Aside, which has served a packet in place of the memory's owner.
struct AsideDone {
  static constexpr std::size_t kMostAnswer = 64;
  static constexpr std::size_t kMostRest = 16;
  alignas(8) std::array<std::byte, kMostAnswer> answer;  ///< a packet, to be sent to the initiator
  alignas(8) std::array<std::byte, kMostRest> rest;      ///< a packet for the owner, instead of the original
  std::size_t answer_bytes = 0;
  std::size_t rest_bytes = 0;  ///< 0: the owner gets no packet
};

/// Carries out a packet's request on the conduit's progress thread, while the endpoint's owner computes.
///
/// Returns true if the request is done: `done` is filled. Returns false if nothing
/// happened: the owner must get the packet. `memory(what, id)` returns this rank's
/// part of a segment, or an empty span if the conduit does not know the segment.
///
/// Threads: may run at the same time as the owner's thread. It uses nothing of the endpoint but `memory`.
using Aside = bool (*)(Bytes packet, MutableBytes (*memory)(const void* what, SegmentId id) noexcept,
                       const void* what, AsideDone& done) noexcept;

/// An answer as Conduit::send takes it: the header's length is a multiple of 8 bytes, and the rest is its payload.
inline Bytes header_of_answer(Bytes answer) noexcept { return answer.first(answer.size() & ~std::size_t{7}); }
inline Bytes rest_of_answer(Bytes answer) noexcept { return answer.subspan(answer.size() & ~std::size_t{7}); }

/// Carries out packets on a progress thread by an Aside, and keeps the answers for which the network has no room yet.
class AsideAnswers {
 public:
  bool empty() const noexcept { return kept_.empty(); }

  /// Offers a packet to `aside`, which may carry it out. If it does, `send(to, answer)` sends the answer; if `send`
  /// says retry, the answer is kept. `packet` then becomes the packet for the owner, which is empty if the owner gets
  /// none. `memory(id)` returns this rank's part of a segment. False: nothing happened, and the owner must get the
  /// whole packet.
  template <class Memory, class Send>
  bool serve(Aside aside, Rank from, Bytes& packet, const Memory& memory, const Send& send) noexcept {
    // Room comes first: once the request is carried out, its answer must not be lost.
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

  /// Sends the kept answers, in order. An answer whose post fails is dropped: its peer is gone.
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
