#include "coll/tune/ranking.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/candidates.hpp"
#include "coll/tune/narrow_ranking.hpp"
#include "coll/tune/predict.hpp"
#include "coll/tune/table.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace aqueduct::coll {

namespace {

/// 0: as many as go with the bytes.
constexpr std::array kSegments{0u, 1u, 4u, 16u, 64u};

/// What a user says of a network, and a search does not find out by trying.
bool is_of_mesh(const Parameter& parameter) noexcept {
  return parameter.name == "row" || parameter.name == "rows";
}

/// The values of a parameter that are tried; 0: the usual one.
std::vector<std::uint32_t> values_of(const Parameter& parameter, Rank ranks) {
  std::vector<std::uint32_t> values{0};
  if (is_of_mesh(parameter)) return values;
  if (parameter.name == "segments") {
    for (const std::uint32_t value : kSegments) {
      if (value >= parameter.least && value <= parameter.most) values.push_back(value);
    }
    return values;
  }
  for (std::uint64_t value = std::max(parameter.least, 1u); value <= parameter.most; value *= 2) {
    if (value != parameter.usual) values.push_back(static_cast<std::uint32_t>(value));
    if (value >= ranks) break;  // greater ones are the same tree
  }
  return values;
}

/// All combinations of an algorithm's parameters.
std::vector<WantedParameters> grid_of(const Algorithm& algorithm, Rank ranks) {
  std::vector<WantedParameters> grid{WantedParameters{}};
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const std::vector<std::uint32_t> values = values_of(algorithm.parameters[i], ranks);
    std::vector<WantedParameters> longer;
    for (const WantedParameters& before : grid) {
      for (const std::uint32_t value : values) {
        longer.push_back(before);
        longer.back()[i] = value;
      }
    }
    grid = std::move(longer);
  }
  return grid;
}

/// In mapped memory both ends of a copy through scratch work at the same time, so announcing outputs gains nothing there.
bool is_worth_trying(const Algorithm& algorithm, const TuningKey& key) noexcept {
  if (is_for_settings_alone(algorithm)) return false;
  // Without flags there is nothing that a barrier replaces: `direct` is the same.
  if (algorithm.behind_barrier && !asks_for_flags(judged_shape(key))) return false;
  return !(algorithm.direct && key.addresses == Addresses::local && key.kind == TeamKind::mapped);
}

void add_candidates(const Algorithm& algorithm, const TuningKey& key, const Shape& shape,
                    const TeamTraits& team, const ScratchLayout& scratch, std::vector<Timed>& out) {
  if (algorithm.operation != shape.operation || !is_worth_trying(algorithm, key)) return;
  std::vector<Fit> before;
  for (const WantedParameters& wanted : grid_of(algorithm, key.ranks)) {
    const Fit how = fit_or_cut(algorithm, wanted, shape, team, scratch);
    if (how.refusal != nullptr) continue;
    // The number that goes with the bytes may be one that is tried anyway.
    const auto is_same = [&](const Fit& one) { return one.shape == how.shape && one.piece == how.piece; };
    if (std::any_of(before.begin(), before.end(), is_same)) continue;
    before.push_back(how);
    out.push_back({&algorithm, wanted, 0});
  }
}

bool is_faster(const Ranked& a, const Ranked& b) noexcept {
  return a.timed.picoseconds < b.timed.picoseconds;
}

}  // namespace

std::vector<Timed> candidates_of(const TuningKey& key, const Shape& shape, const TeamTraits& team,
                                 const ScratchLayout& scratch, bool all) {
  std::vector<Timed> out;
  for (const Algorithm* const one : KnownAlgorithms(team.added)) {
    if (all || !is_outside_the_model(*one)) add_candidates(*one, key, shape, team, scratch, out);
  }
  if (!all) return out;
  for (const Algorithm& one : board_algorithms()) add_candidates(one, key, shape, team, scratch, out);
  // Without bytes, only the library's messages show that members have made different calls.
  if (key.size == 0) return out;
  if (const Algorithm* const one = native_algorithm(key.operation))
    add_candidates(*one, key, shape, team, scratch, out);
  return out;
}

std::vector<Timed> candidates_of(const TuningKey& key, const TeamTraits& team, const ScratchLayout& scratch,
                                 bool all) {
  return candidates_of(key, judged_shape(key), team, scratch, all);
}

std::vector<Ranked> rank_by_model(const std::vector<Timed>& candidates, const Shape& shape,
                                  const TuningTable& table, const TeamTraits& team,
                                  const ScratchLayout& scratch, const RankingLimits& limits) {
  std::vector<Ranked> ranked;
  for (const Timed& one : candidates) {
    if (is_outside_the_model(*one.algorithm)) continue;
    const Fit how = fit_or_cut(*one.algorithm, one.wanted, shape, team, scratch);
    if (has_wrong_steps(*one.algorithm, how)) continue;
    const auto machine = machine_for(table, team, usual_message(*one.algorithm, how));
    if (!machine) return {};
    ranked.push_back(
        {{one.algorithm, one.wanted, rough_time(*one.algorithm, how, *machine)}, Known::estimated});
  }
  // Sorted stably, so that equal times keep the order of the list of algorithms on all members.
  std::stable_sort(ranked.begin(), ranked.end(), is_faster);
  const auto try_replay = [&](Ranked& one, std::uint64_t& left) {
    const Algorithm& algorithm = *one.timed.algorithm;
    const Fit how = fit_or_cut(algorithm, one.timed.wanted, shape, team, scratch);
    const auto machine = machine_for(table, team, usual_message(algorithm, how));
    const std::optional<std::uint64_t> time = time_within(left, algorithm, how, *machine, nullptr);
    if (!time) return false;
    one.timed.picoseconds = *time;
    one.known = Known::replayed;
    return true;
  };
  std::uint64_t left = limits.messages(shape.ranks);
  for (Ranked& one : ranked) try_replay(one, left);
  std::stable_sort(ranked.begin(), ranked.end(), is_faster);
  // The formula does not see that one member sends everything: who wins by it is replayed all the same.
  for (std::size_t i = 0; i < limits.most_kept && !ranked.empty(); ++i) {
    std::uint64_t its_own = limits.messages(shape.ranks);
    if (ranked.front().known == Known::replayed || !try_replay(ranked.front(), its_own)) break;
    std::stable_sort(ranked.begin(), ranked.end(), is_faster);
  }
  // An algorithm of the program is as fast as it says only if its steps come to an end. If these are too many to be replayed,
  // nobody knows.
  std::erase_if(ranked, [](const Ranked& one) {
    return one.timed.algorithm->added != nullptr && one.known != Known::replayed;
  });
  if (may_be_narrow(table, team)) rank_for_narrow_links(ranked, shape, table, team, scratch, limits);
  // Where a root sends everything, what is left unreplayed comes last: the formula finds it too fast.
  if (has_root(shape.operation)) {
    std::stable_partition(ranked.begin(), ranked.end(),
                          [](const Ranked& one) { return one.known == Known::replayed; });
  }
  return ranked;
}

Ranking rank(const TuningKey& key, const TuningTable& table, const TeamTraits& team,
             const ScratchLayout& scratch, const RankingLimits& limits) {
  Ranking out;
  if (const Decision* const decision = table.find(key)) {
    out.all.push_back({decision->best, Known::measured});
    if (decision->runner_up.algorithm != nullptr) out.all.push_back({decision->runner_up, Known::measured});
    out.samples = decision->samples;
    out.measured_at = decision->key;
    out.other_hosts = decision->key.hosts != 0 && decision->key.hosts != key.hosts;
    return out;
  }
  // Of ranks that wait for a processor a measured model knows too little (docs/decisions/0164-rules-choose-where-processors-are-shared.md).
  // A conduit in virtual time has none to wait for.
  const NetworkModel* const model = table.model(team.one_host);
  if (model == nullptr || model->origin == NetworkModel::Origin::defaults) return out;
  if (team.crowded && model->origin == NetworkModel::Origin::profile) return out;
  // By the key alone, as the ranking is kept for all shapes of the key.
  out.all = rank_by_model(candidates_of(key, team, scratch, false), judged_shape(key), table, team, scratch,
                          limits);
  if (out.all.size() > limits.most_kept) out.all.resize(limits.most_kept);
  return out;
}

}  // namespace aqueduct::coll
