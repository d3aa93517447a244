#pragma once

#include "coll/tune/chooser.hpp"
#include "coll/tune/decision.hpp"
#include "coll/tune/tuning_table.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::coll {

/// Where the time of a ranked algorithm comes from.
enum class Known : std::uint8_t {
  measured,   ///< a decision of the table for this key, or a near one
  replayed,   ///< a replay of its schedule
  estimated,  ///< its numbers of messages and bytes: the replay would have taken too long
};

struct Ranked {
  Timed timed;
  Known known = Known::replayed;
  /// What it takes where hosts that are far from each other share links (coll/tune/narrow_ranking.hpp). 0: it was not asked.
  std::uint64_t narrow_picoseconds = 0;
};

/// Algorithms for a key, the best one first; each with its parameters.
struct Ranking {
  std::vector<Ranked> all;
  std::uint32_t samples = 0;  ///< of the measured ones
  bool other_hosts = false;   ///< it was measured on another number of hosts
  TuningKey measured_at;      ///< the key of the decision, if the first ones are measured
};

/// How much work a ranking may be. The same on all members.
struct RankingLimits {
  /// Messages that are replayed for one key, or as many for each member, if that is more. Chosen: tens of milliseconds for up to
  /// 1,000 members, 0.1 s for 4,096 (docs/tuning.md), and most trees of a large team.
  std::uint64_t most_messages = 1 << 16;
  std::uint64_t most_messages_of_member = 512;
  /// How many are kept, at least one. Chosen: what does not fit is replaced by the next.
  std::size_t most_kept = 8;

  std::uint64_t messages(Rank ranks) const noexcept {
    return std::max(most_messages, most_messages_of_member * ranks);
  }
};

/// All algorithms of the key's operation that can do a shape of the key, with the parameters of a grid: powers of two for
/// radixes, a few numbers of segments. Those outside the model too, as those of the team's board and of its conduit, if `all` is set.
std::vector<Timed> candidates_of(const TuningKey& key, const Shape& shape, const TeamTraits& team,
                                 const ScratchLayout& scratch, bool all);
/// The same for the shape by which the key is judged.
std::vector<Timed> candidates_of(const TuningKey& key, const TeamTraits& team, const ScratchLayout& scratch,
                                 bool all);

/// Ranks them for the machine that the table describes; first what the table has measured. Empty: the table knows nothing
/// about the key. A pure function of its arguments, in whole numbers. May throw std::bad_alloc.
Ranking rank(const TuningKey& key, const TuningTable& table, const TeamTraits& team,
             const ScratchLayout& scratch, const RankingLimits& limits = {});

/// The candidates for a shape on that machine, without what was measured: for a search. Empty: no machine is known.
std::vector<Ranked> rank_by_model(const std::vector<Timed>& candidates, const Shape& shape,
                                  const TuningTable& table, const TeamTraits& team,
                                  const ScratchLayout& scratch, const RankingLimits& limits);

}  // namespace aqueduct::coll
