#pragma once

#include "coll/shared/board_lines.hpp"
#include "core/conduit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::detail {
struct EndpointState;
}

namespace aqueduct::coll {

/// Reads out of the memory of the processes of a team's members, wherever it lies there: copies that the system makes. Of one
/// member.
///
/// Systems forbid them in containers and between users. So each member tries all others before it says on the board that it can,
/// and a buffer may be read in this way only once all have said so. The owner of the buffer decides that, by what it has seen.
class ProcessCopies {
 public:
  /// `ranks`: [member] its rank in the job.
  ProcessCopies(aqueduct::detail::EndpointState& state, std::vector<Rank> ranks, Rank me);
  ~ProcessCopies();
  ProcessCopies(const ProcessCopies&) = delete;
  ProcessCopies& operator=(const ProcessCopies&) = delete;

  /// Goes as far as the others have come, and waits for nobody. `head(member)`: its line on the board.
  template <class HeadOf>
  void prepare(const HeadOf& head) noexcept {
    if (over_) return;
    if (!shown_) show(head(me_));
    while (tried_ < ranks_.size() && !over_) {
      const BoardHead& its = head(tried_);
      if (its.copies.load(std::memory_order_acquire) == kUnknown) return;
      reach(tried_, its);
      ++tried_;
    }
    if (over_) return;
    head(me_).copies.store(kCan, std::memory_order_release);
    for (; seen_ < ranks_.size(); ++seen_) {
      if (head(seen_).copies.load(std::memory_order_acquire) != kCan) return;
    }
    ready_ = over_ = true;
  }
  /// Whether others can read this memory of the member's own process. Some memory cannot be copied by the system, such as that of
  /// devices, so the member tries its first and last byte; it remembers some of what it has tried.
  bool can_read(const std::byte* memory, std::uint64_t bytes) noexcept;
  /// Nothing is left to prepare: it is ready, or never will be.
  bool over() const noexcept { return over_; }
  /// False: the process is not there any more, or has no such memory.
  bool read(Rank member, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept;

 private:
  // BoardHead::copies.
  static constexpr std::uint64_t kUnknown = 0;
  static constexpr std::uint64_t kShown = 1;  ///< others know how to reach it
  static constexpr std::uint64_t kCan = 2;    ///< and it can reach all others

  struct Member {
    core::NativeRma* rma = nullptr;  ///< null: not reached
    std::uint64_t key = 0;
  };
  /// Memory that can be read.
  struct Tried {
    const std::byte* memory = nullptr;
    std::uint64_t bytes = 0;
  };
  void show(BoardHead& mine) noexcept;
  void reach(Rank member, const BoardHead& its) noexcept;

  aqueduct::detail::EndpointState& state_;
  std::vector<Rank> ranks_;
  std::vector<Member> members_;
  std::array<Tried, 8> latest_{};
  std::uint32_t next_ = 0;  ///< in latest_, taken in turn
  Rank me_;
  Rank tried_ = 0;  ///< members before this one have been reached
  Rank seen_ = 0;   ///< members before this one have said that they can
  bool shown_ = false;
  bool ready_ = false;
  bool over_ = false;
};

}  // namespace aqueduct::coll
