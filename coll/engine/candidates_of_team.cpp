// Algorithms that are worth a trial on a team.

#include "coll/engine/team_choices.hpp"
#include "coll/tune/candidates.hpp"
#include "core/network_profile.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

namespace aqueduct::coll {

namespace {

/// How many algorithms of the model's order are candidates of a key. Chosen: as many as `tune` measures.
constexpr std::size_t kCandidates = 8;

/// What the model says nothing about, with the parameters that are tried: the usual ones, and of windows three sizes.
bool is_tried_unranked(const Timed& one, Rank ranks) noexcept {
  const Algorithm& algorithm = *one.algorithm;
  if (!is_outside_the_model(algorithm)) return false;
  if (algorithm.native || algorithm.board != BoardMethod::none)
    return algorithm.native || one.wanted == WantedParameters{};
  const std::uint32_t window = one.wanted[0] != 0 ? one.wanted[0] : algorithm.parameters[0].usual;
  return (window == 1 || window == 4 || window == 16) && window < ranks - 1;
}

}  // namespace

/// The rough model of the conduit by which this member reaches another one, as far away as the team has them: the same conduit
/// on all members, and so the same model.
NetworkModel TeamChoices::usual_model() const {
  Rank other = team_.members[ranks_ - 1];
  for (Rank i = 0; i < ranks_; ++i) {
    if (state_.host_of[team_.members[i]] != state_.host_of[state_.rank]) other = team_.members[i];
  }
  return core::default_network_model(state_.conduit(other).properties().name, traits_.one_host);
}

std::vector<Timed> TeamChoices::worth_measuring(const TuningKey& key, const Shape& shape,
                                                std::size_t most) const {
  if (!layout_) return {};
  const ScratchLayout& layout = *layout_;
  const bool barrier = key.operation == Operation::barrier;
  const TeamTraits traits = barrier ? traits_of_barriers() : traits_for(shape);
  const std::vector<Timed> all = candidates_of(key, shape, traits, layout, /*all=*/true);
  TuningTable::Models models = chooser_.table().models();
  std::optional<NetworkModel>& own = traits_.one_host ? models.host : models.network;
  if (!own) own = usual_model();
  const std::vector<Ranked> ranked = rank_by_model(all, shape, TuningTable(models, {}), traits, layout, {});
  std::vector<Timed> out;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) out.push_back(ranked[i].timed);
  std::copy_if(all.begin(), all.end(), std::back_inserter(out),
               [&](const Timed& one) { return is_tried_unranked(one, key.ranks); });
  const Choice now = barrier ? choice_of_barriers() : chooser_.choose(shape, traits, layout);
  if (now.algorithm == nullptr) return out;
  const auto is_now = [&](const Timed& one) {
    const Fit how = fit_or_cut(*one.algorithm, one.wanted, shape, traits, layout);
    return one.algorithm == now.algorithm && how.shape == now.shape;
  };
  if (std::none_of(out.begin(), out.end(), is_now)) out.push_back({now.algorithm, now.shape.parameters, 0});
  return out;
}

/// The candidates for calls like this one, without those that come to the same; the first one is what runs now.
std::vector<Timed> TeamChoices::field_of(const TuningKey& key, const Shape& asked) const {
  const ScratchLayout& layout = *layout_;
  const TeamTraits traits = traits_for(asked);
  const Choice now = chooser_.choose(asked, traits, layout);
  std::vector<Timed> field;
  std::vector<Shape> shapes;
  const auto add = [&](const Timed& one) {
    const Fit how = fit_or_cut(*one.algorithm, one.wanted, asked, traits, layout);
    if (how.refusal != nullptr) return;
    for (std::size_t i = 0; i < field.size(); ++i) {
      if (field[i].algorithm == one.algorithm && shapes[i] == how.shape) return;
    }
    field.push_back(one);
    shapes.push_back(how.shape);
  };
  if (now.algorithm != nullptr) add({now.algorithm, now.shape.parameters, 0});
  if (!field.empty()) {
    for (const Timed& one : worth_measuring(key, asked, kCandidates)) add(one);
  }
  return field;
}

}  // namespace aqueduct::coll
