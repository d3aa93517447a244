#include "coll/tune/narrow_ranking.hpp"

#include "coll/schedule/groups.hpp"
#include "coll/tune/table.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace aqueduct::coll {

namespace {

/// Hosts of one switch share no links. Chosen: switches of today have 36 ports and more.
constexpr Rank kHostsOfSwitch = 36;

/// What takes longer than the fastest one by this factor on the network of the model is not tried on the other.
constexpr std::uint64_t kHopelessFactor = 8;

/// The sum of both times: what it takes on average, if one network is as likely as the other.
std::uint64_t on_average(const Ranked& one) noexcept {
  if (one.narrow_picoseconds == 0) return std::numeric_limits<std::uint64_t>::max();
  return one.timed.picoseconds + one.narrow_picoseconds;  // each below 2^62 (kMostTime)
}

/// The first on average, the first of the model, the second on average, …: a search measures the first few, and the best one may
/// be the best of either order.
std::vector<Ranked> in_turns(const std::vector<Ranked>& by_model) {
  std::vector<std::size_t> by_average(by_model.size());
  std::iota(by_average.begin(), by_average.end(), std::size_t{0});
  std::stable_sort(by_average.begin(), by_average.end(), [&](std::size_t a, std::size_t b) {
    return on_average(by_model[a]) < on_average(by_model[b]);
  });
  std::vector<bool> taken(by_model.size());
  std::vector<Ranked> out;
  out.reserve(by_model.size());
  for (std::size_t i = 0; i < by_model.size(); ++i) {
    for (const std::size_t one : {by_average[i], i}) {
      if (taken[one]) continue;
      taken[one] = true;
      out.push_back(by_model[one]);
    }
  }
  return out;
}

}  // namespace

std::optional<std::uint64_t> time_within(std::uint64_t& left, const Algorithm& algorithm, const Fit& how,
                                         const Machine& machine, NarrowLinks* links) {
  const std::uint64_t followed = followed_messages(algorithm, how);
  if (followed != 0 && followed <= left) {
    left -= followed;
    if (const auto time = followed_time(algorithm, how, machine, links)) return time;
  }
  const std::uint64_t work = replayed_messages(algorithm, how);
  if (work > left) return std::nullopt;
  left -= work;
  std::uint64_t messages = 0;
  return replayed_time(algorithm, how, machine, messages, links);
}

bool may_be_narrow(const TuningTable& table, const TeamTraits& team) noexcept {
  if (team.one_host) return false;
  const Rank hosts = team.groups != nullptr ? team.groups->count() : team.ranks;
  const NetworkModel* const model = table.model(false);
  return hosts > kHostsOfSwitch && model != nullptr && model->origin != NetworkModel::Origin::conduit;
}

void rank_for_narrow_links(std::vector<Ranked>& ranked, const Shape& shape, const TuningTable& table,
                           const TeamTraits& team, const ScratchLayout& scratch,
                           const RankingLimits& limits) {
  if (ranked.empty()) return;
  const std::uint64_t fastest = ranked.front().timed.picoseconds;
  NarrowLinks links(team.ranks, team.block);
  std::uint64_t left = limits.messages(shape.ranks);
  for (Ranked& one : ranked) {
    if (one.known != Known::replayed || one.timed.picoseconds / kHopelessFactor > fastest) continue;
    const Algorithm& algorithm = *one.timed.algorithm;
    const Fit how = fit_or_cut(algorithm, one.timed.wanted, shape, team, scratch);
    const auto machine = machine_for(table, team, usual_message(algorithm, how));
    one.narrow_picoseconds = time_within(left, algorithm, how, *machine, &links).value_or(0);
  }
  ranked = in_turns(ranked);
}

}  // namespace aqueduct::coll
