#pragma once

#include "coll/scratch/counter_words.hpp"
#include "coll/scratch/layout.hpp"
#include "coll/scratch/senders.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::coll {

/// A control message: adds `add` to the peer's counter `counter`.
struct Raise {
  Rank peer = kNoRank;
  std::uint32_t counter = 0;
  std::uint64_t add = 0;
};

/// When a member of a team may use a bank again, and what it tells its peers for that.
///
/// An epoch is *finished* on a member when no operation will be added to it and all of the member's operations of it are
/// drained: every put and signal that they expect has arrived and was used, and the sources of their own puts are free. A
/// bank has one epoch in K, for K banks. So an operation of epoch e may write to a peer when the peer has finished
/// epoch e - K. The writer learns that in one of two ways, which all members choose alike:
///
/// by clears    The peer raises the writer's counter for it to the number of epochs that it has finished. It does so when
///              it starts an operation in which the writer writes to it, and at the end of an epoch for those that wrote
///              to it in that epoch, since they will probably do so again. Each sends at most one to a peer and epoch.
/// by a barrier When all members have finished the epoch: dissemination, radix 2, without anybody waiting in it.
///
/// Units: epochs are numbered from 0. "n finished" means epochs 0 to n - 1.
/// Cost:  nothing is allocated; all functions take constant time, but finishing an epoch and due() look at a word.
class Epochs {
 public:
  /// May throw std::bad_alloc. Requires: `reuse` is the number of banks; tests pass more, to see that this fails.
  Epochs(const ScratchLayout& layout, Rank ranks, Rank position, const CounterWords& counters,
         std::uint32_t reuse);
  Epochs(const Epochs&) = delete;
  Epochs& operator=(const Epochs&) = delete;

  /// The member has begun to hand out epoch `epoch`. `by_barrier` says how the epoch before ends.
  void begin(std::uint64_t epoch, bool by_barrier) noexcept;
  /// An operation has got a portion of the present epoch; `senders` will write to this member in it.
  void opened(Members senders) noexcept {
    ++now_->undrained;
    now_->senders |= senders;
  }

  /// The same for one that has started already, whose senders the epoch knows from an earlier one of its operations.
  void opened_again() noexcept { ++now_->undrained; }

  /// Whether an operation of this epoch may start here. If not, it is held, and all later ones of the team behind it.
  bool may_start(std::uint64_t epoch) const noexcept {
    return finished_ + reuse_ > epoch && (!by_barrier_before(epoch) || past_barriers_ + reuse_ > epoch);
  }
  /// An operation has started. Requires: may_start(epoch).
  void started(std::uint64_t epoch, Members senders) noexcept;
  /// Whether an operation that has started may put or signal to a peer. A step to this peer waits until it may; other
  /// lanes go on. Cost: a load.
  bool may_write(std::uint64_t epoch, Rank peer) const noexcept {
    return writes_freely(epoch) || is_cleared(epoch, peer);
  }
  /// Whether an operation of this epoch that has started may write to all peers. Requires: the epoch has begun.
  bool writes_freely(std::uint64_t epoch) const noexcept {
    return epoch < reuse_ || by_barrier_before(epoch);
  }
  /// Whether the peer has said that an operation may. Requires: not writes_freely(epoch).
  bool is_cleared(std::uint64_t epoch, Rank peer) const noexcept {
    return counters_.count(first_clear_ + peer) + reuse_ > epoch;
  }
  /// An operation of that epoch is drained.
  void drained(std::uint64_t epoch) noexcept {
    if (--at(epoch).undrained == 0 && finished_ < present_) finish_epochs();
  }

  /// The control message that is to be sent next, if there is one. After sent(), ask again.
  std::optional<Raise> due() noexcept;
  /// That message is posted.
  void sent(const Raise& raise) noexcept;
  /// Whether due() may have something: it need not be asked otherwise.
  bool busy() const noexcept { return owed_ != 0 || past_barriers_ < finished_; }

  std::uint64_t finished() const noexcept { return finished_; }

 private:
  // At most reuse + 1 epochs are begun and not finished, and nothing asks for epochs more than `reuse` before these.
  static constexpr std::uint64_t kRemembered = 16;
  static_assert(kRemembered > 2 * (kMostBanks + 1) + 1);
  struct Epoch {
    std::uint32_t undrained = 0;
    bool by_barrier = false;
    Members senders = 0;
  };

  Epoch& at(std::uint64_t epoch) noexcept { return remembered_[epoch % kRemembered]; }
  const Epoch& at(std::uint64_t epoch) const noexcept { return remembered_[epoch % kRemembered]; }
  /// Whether the bank's last use before `epoch` ended by a barrier.
  bool by_barrier_before(std::uint64_t epoch) const noexcept {
    return epoch >= reuse_ && at(epoch - reuse_).by_barrier;
  }
  void finish_epochs() noexcept;
  std::optional<Raise> next_round() noexcept;

  const ScratchLayout& layout_;
  Rank ranks_;
  Rank position_;
  const CounterWords& counters_;
  std::uint32_t reuse_;
  std::uint32_t first_clear_;  ///< layout_.clear_counter(0)
  std::array<Epoch, kRemembered> remembered_{};
  std::uint64_t present_ = 0;        ///< the epoch that is handed out
  Epoch* now_ = remembered_.data();  ///< at(present_)
  std::uint64_t finished_ = 0;       ///< how many epochs are
  Members owed_ = 0;                 ///< peers that are to be told of finished_
  std::vector<std::uint64_t> told_;  ///< [peer] how many finished epochs it has been told of; of clears
  // The barriers take place one after the other, in the order of their epochs.
  std::uint64_t past_barriers_ = 0;  ///< the epochs before this one have no barrier, or it is over
  std::uint64_t barriers_ = 0;       ///< how many are over
  std::uint32_t round_ = 0;          ///< of the barrier of epoch past_barriers_
  bool round_sent_ = false;
};

}  // namespace aqueduct::coll
