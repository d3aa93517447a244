#pragma once

#include "coll/schedule/passes.hpp"
#include "coll/scratch/banks.hpp"
#include "coll/scratch/counter_words.hpp"
#include "coll/scratch/epochs.hpp"
#include "coll/scratch/senders.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// The scratch of a team, on one member: who may use which bytes and counters, and when.
///
/// No message is sent while an epoch lasts. This class sends nothing itself: the engine posts the raises that due()
/// names, and says when an operation has started and when it is drained.
///
/// Order:   open() and open_again() are called in the team's order, the same on all members. An operation is opened when
///          those before it have started, is started when it may, and is drained some time later, in any order.
/// Threads: one at a time; peers raise the counters meanwhile.
class TeamScratch {
 public:
  /// `counters` has layout.counters() words of this member's memory, which peers raise. `senders`: of teams of that size;
  /// null: the team has its own. Allocates all that it will ever use. May throw std::bad_alloc.
  /// Requires: reuse is 0, or in a test that is to fail, a wrong number of banks.
  TeamScratch(const ScratchSizes& sizes, Rank ranks, Rank position, CounterWords counters,
              std::shared_ptr<Senders> senders = nullptr, std::uint32_t reuse = 0);
  /// For words that were 0 when this member offered them to the others; see CounterWords::zeroed.
  TeamScratch(const ScratchSizes& sizes, Rank ranks, Rank position, std::span<std::uint64_t> counters)
      : TeamScratch(sizes, ranks, position, CounterWords::zeroed(counters)) {}
  TeamScratch(const TeamScratch&) = delete;
  TeamScratch& operator=(const TeamScratch&) = delete;

  const ScratchLayout& layout() const noexcept { return layout_; }
  /// Which members write to which by the schedules from now on. Requires: nothing of the team is in flight here; tickets of
  /// former operations are not used again; `senders` is null only if the team has no clears.
  void use_senders(std::shared_ptr<Senders> senders) noexcept { senders_ = std::move(senders); }

  /// The portion of the next operation. Requires: the operations before have started, and the layout does not refuse the
  /// needs; `needs` are Schedule::needs(algorithm, shape); `ticket` is empty or was used for this shape before, with any root.
  [[gnu::always_inline]] Portion open(const Algorithm& algorithm, const Shape& shape, const Needs& needs,
                                      Senders::Ticket& ticket) noexcept {
    const std::uint64_t before = banks_.epoch();
    Portion portion = banks_.open(needs);
    if (portion.epoch != before) [[unlikely]]
      begin_epoch(portion.epoch);
    enter(portion, algorithm, shape, ticket);
    return portion;
  }

  /// Opens and starts an operation that had `portion` when it was opened by open() or this before, with the same schedule
  /// and root. False: nothing has happened. True only in the epoch of that portion; so all that the epoch must know of the
  /// operation (who writes to whom, that it may start) is known already. Requires: the operations before have started.
  [[gnu::always_inline]] bool open_again(Portion& portion) noexcept {
    if (!banks_.open_again(portion)) return false;
    epochs_.opened_again();
    return true;
  }

  /// Whether open_again may open operations. At first it may.
  void allow_again(bool allowed) noexcept { banks_.allow_again(allowed); }

  /// Whether the operation may start: the bank's former use is over here. If not, it is held, and those behind it.
  bool may_start(const Portion& portion) const noexcept { return epochs_.may_start(portion.epoch); }
  void start(const Portion& portion) noexcept { epochs_.started(portion.epoch, portion.senders); }
  /// Whether a step may put or signal to this peer. Requires: the operation has started.
  bool may_write(const Portion& portion, Rank peer) const noexcept {
    return portion.writes_freely || epochs_.is_cleared(portion.epoch, peer);
  }
  /// How much was added to a counter of the operation. Arrivals count from the time when a peer could send them, which
  /// may be before the operation was opened here.
  std::uint64_t count(const Portion& portion, Counter counter) const noexcept {
    return counters_.count(portion.first_counter + counter);
  }
  /// The operation is over here: all that its counters will ever receive has arrived and was waited for, no put, get or
  /// reduction of it reads or writes here any more. Later than the user's completion, or at the same time. A get by a
  /// peer is known to be over only if the peer then raises a counter that this operation waits for.
  void drained(const Portion& portion) noexcept;

  /// A message to be posted; after sent() there may be another one. Between the two, call neither again.
  std::optional<Raise> due() noexcept { return closed_ ? std::nullopt : epochs_.due(); }
  void sent(const Raise& raise) noexcept { epochs_.sent(raise); }
  bool busy() const noexcept { return epochs_.busy() && !closed_; }

  /// A member is lost: nothing is due any more. The engine ends the operations.
  void close() noexcept { closed_ = true; }
  bool closed() const noexcept { return closed_; }

  std::uint64_t epoch() const noexcept { return banks_.epoch(); }
  std::uint64_t finished() const noexcept { return epochs_.finished(); }

 private:
  void begin_epoch(std::uint64_t epoch) noexcept;
  [[gnu::always_inline]] void enter(Portion& portion, const Algorithm& algorithm, const Shape& shape,
                                    Senders::Ticket& ticket) noexcept {
    if (layout_.clears() && ranks_ > 1) {
      const Senders::Entry& known = senders_->of(algorithm, shape, ticket);
      const Rank root = Senders::counted_from(shape);
      portion.senders = senders_->from_root(known.rows[relative(position_, root, ranks_)], root);
      if (ticket.noted_in != portion.epoch || (ticket.noted_roots >> root & 1) == 0)
        note(known, root, ticket);
    }
    portion.writes_freely = epochs_.writes_freely(portion.epoch);
    epochs_.opened(portion.senders);
  }
  void note(const Senders::Entry& known, Rank root, Senders::Ticket& ticket) noexcept;
  bool ends_by_barrier() const noexcept;

  ScratchLayout layout_;
  Rank ranks_;
  Rank position_;
  CounterWords counters_;
  ScratchBanks banks_;
  Epochs epochs_;
  std::shared_ptr<Senders> senders_;  ///< null: the team has no clears
  std::vector<Members> pairs_;        ///< [receiver]: who writes to it in the present epoch
  bool closed_ = false;
};

}  // namespace aqueduct::coll
