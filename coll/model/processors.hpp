#pragma once

#include "coll/model/loggp.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::coll {

/// Which rank has which processor on hosts whose ranks share them: convention 12 of loggp.hpp. Empty if each rank has its own.
///
/// Requires: for each host, calls in the order of time.
class Processors {
 public:
  Processors(const Machine& machine, Rank ranks);

  bool are_shared() const noexcept { return !cores_.empty(); }
  /// The rank asks for its processor. Requires: it has it not, and has not asked since it had it.
  void ask(Rank rank, Picoseconds now) noexcept;
  /// The rank waits, so its processor goes round.
  void give_back(Rank rank, Picoseconds now) noexcept;
  /// Gives the processor of `rank` to one that has asked, if it has come to that one: calls each(that rank), whose look begins
  /// now. If it comes there later: calls later(when, that rank), for this to be called again then. To be called whenever a rank has asked or
  /// given its processor back.
  template <class Each, class Later>
  void give_out(Rank rank, Picoseconds now, const Each& each, const Later& later) {
    Core& core = cores_[seats_[rank].core];
    if (core.taken) return;
    const Coming next = next_of(core);
    if (next.to == kNoRank) return;
    if (next.when <= now) {
      take(core, next.to);
      each(next.to);
    } else {
      later(next.when, next.to);
    }
  }

 private:
  struct Core {
    Picoseconds free_since = 0;
    Rank last = kNoRank;  ///< the rank that has it, or had it last
    bool taken = false;
    std::vector<Rank> ranks;  ///< those that share it, in the order in which it goes round
  };
  struct Seat {
    Picoseconds asked = 0;
    bool asks = false;
    std::uint32_t core = 0;    ///< of all hosts
    std::uint32_t number = 0;  ///< among the ranks of its core
  };
  struct Coming {
    Picoseconds when = 0;
    Rank to = kNoRank;
  };

  Picoseconds comes_to(const Core& core, const Seat& seat) const noexcept;
  Coming next_of(const Core& core) const noexcept;
  void take(Core& core, Rank rank) noexcept;

  const Machine& machine_;
  std::vector<Core> cores_;  // [host][core]
  std::vector<Seat> seats_;  // [rank]

 public:
  static constexpr std::uint64_t kBytesOfMember = sizeof(Seat) + sizeof(Core) + 2 * sizeof(Rank);
};

}  // namespace aqueduct::coll
