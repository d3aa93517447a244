#pragma once

#include "coll/model/loggp.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// Which rank has which processor on hosts whose ranks share them: convention 12 of loggp.hpp. Empty if each rank has its own.
///
/// Requires: for each host, calls in the order of time.
class Processors {
 public:
  Processors(const Machine& machine, Rank ranks);

  bool are_shared() const noexcept { return !cores_.empty(); }
  /// The rank asks for a processor. Requires: it has none, and has not asked since it had one.
  void ask(Rank rank, Picoseconds now);
  /// The rank waits, so its processor is free.
  void give_back(Rank rank, Picoseconds now) noexcept;
  /// Gives free processors of the rank's host to those that have asked. Calls each(rank) for them: their looks begin now. To be
  /// called whenever a rank has asked, and `turn` after one has given its processor back.
  template <class Each>
  void give_out(Rank of_host, Picoseconds now, const Each& each) {
    const Rank host = machine_.host_of(of_host);
    const std::size_t first = std::size_t{host} * machine_.cores;
    for (std::size_t i = first; i < first + machine_.cores; ++i) {
      Core& core = cores_[i];
      if (core.taken || core.last == kNoRank || !seats_[core.last].asks) continue;
      take(core, core.last);
      each(core.last);
    }
    while (const Asked* const one = first_of(waiting_[host])) {
      Core* const core = longest_free(host, now);
      if (core == nullptr) return;
      take(*core, one->second);
      each(one->second);
    }
  }

 private:
  using Asked = std::pair<Picoseconds, Rank>;
  using Waiting = std::priority_queue<Asked, std::vector<Asked>, std::greater<>>;  // the first one on top
  struct Core {
    Picoseconds free_since = 0;
    Rank last = kNoRank;  ///< who has it, or had it
    bool taken = false;
  };
  struct Seat {
    Picoseconds asked = 0;
    bool asks = false;
    std::uint32_t core = 0;  ///< of all hosts
  };

  const Asked* first_of(Waiting& waiting) const;
  Core* longest_free(Rank host, Picoseconds now) noexcept;
  void take(Core& core, Rank rank) noexcept;

  const Machine& machine_;
  std::vector<Core> cores_;       // [host][core]
  std::vector<Seat> seats_;       // [rank]
  std::vector<Waiting> waiting_;  // [host]; also some that have got a processor since

 public:
  static constexpr std::uint64_t kBytesOfMember = sizeof(Asked);
};

}  // namespace aqueduct::coll
