// What a team's members choose by, and what a search for something better needs of the engine.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/tune/candidates.hpp"
#include "core/network_profile.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace aqueduct::coll {

namespace {

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

void TeamEngine::choose_tuning(bool all_alike) noexcept {
  if (all_alike) return;
  state_.log.warn(
      "a team of {} ranks: its members have different tuning tables, so the rules choose its algorithms: "
      "this is a mistake of the library, please report it",
      ranks_);
  chooser_.have_table(layer_.no_tuning());
}

bool TeamEngine::is_forced(Collective operation) const noexcept {
  if (operation == Collective::barrier)
    return layout_ && layer_.rules().is_barrier_set(traits_of_barriers(), *layout_);
  return layer_.rules().is_forced(operation);
}

/// The rough model of the conduit by which this member reaches another one, as far away as the team has them: the same conduit
/// on all members, and so the same model.
NetworkModel TeamEngine::usual_model() const {
  Rank other = team_.members[ranks_ - 1];
  for (Rank i = 0; i < ranks_; ++i) {
    if (state_.host_of[team_.members[i]] != state_.host_of[state_.rank]) other = team_.members[i];
  }
  return core::default_network_model(state_.conduit(other).properties().name, traits_.one_host);
}

std::vector<Timed> TeamEngine::worth_measuring(const TuningKey& key, const Shape& shape,
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

/// Calls like the last ones are chosen for anew. Those in flight, and plans, go on as they began.
void TeamEngine::forget_calls() noexcept {
  if (latest_ == nullptr) return;
  for (KnownCall*& known : latest_->known) {
    if (known != nullptr) let_go(*std::exchange(known, nullptr));
  }
  for (Method*& method : latest_->methods) {
    if (method == nullptr) continue;
    method->kept = false;
    if (method->uses == 0) layer_.methods().give_back(*method);
    method = nullptr;
  }
}

void TeamEngine::try_out(const TuningKey& key, const Timed& what) noexcept {
  chooser_.try_out(key, what);
  forget_calls();
  barrier_ = nullptr;
}

bool TeamEngine::end_trial() noexcept {
  const bool used = chooser_.end_trial();
  forget_calls();
  barrier_ = nullptr;
  return used;
}

void TeamEngine::have_tuning(std::shared_ptr<const TuningTable> table) {
  if (learning_ != nullptr) learning_->start_over();
  chooser_.have_table(std::move(table));
  forget_calls();
  barrier_ = nullptr;
  for (const auto& one : barriers_) drop_prepared(one->call);  // of those that a search has tried
}

void TeamEngine::give_up_calls(ErrorCode why) noexcept {
  // If no call is in flight, the others are told that this member refuses the next one.
  if (first_ == nullptr && broken_.ok()) refuse(refused_call({}, why), why);
  fail_and_tell(why);
  static_cast<void>(advance());
}

}  // namespace aqueduct::coll
