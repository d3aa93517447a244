#include "coll/engine/collectives.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace aqueduct::coll {

using aqueduct::detail::algorithms_of;
using aqueduct::detail::TeamSlot;

namespace {

/// The table of the words that rank 0 has told. All ranks have got them whole, or the job would not have started.
std::shared_ptr<const TuningTable> agreed_tuning(const EndpointState& state) {
  std::optional<TuningTable> table;
  if (state.tuning != nullptr)
    table = TuningTable::from(*state.tuning, algorithms_of(state.config.added_algorithms()));
  return std::make_shared<const TuningTable>(table ? std::move(*table) : TuningTable());
}

}  // namespace

Collectives::Collectives(EndpointState& state)
    : state_(state),
      offers_(state),
      rules_(forced_algorithms(state.config)),
      tree_recipe_(tree_of_teams(state.config, state.log)),
      tuning_(agreed_tuning(state)),
      aborts_(state, heard, this),
      questions_(state, last_call, last_call_said, this),
      busy_(state.busy),
      watching_(state.watching) {
  std::vector<const Algorithm*> algorithms(all_algorithms().begin(), all_algorithms().end());
  for (const Algorithm& native : native_algorithms()) algorithms.push_back(&native);
  for (const Algorithm& board : board_algorithms()) algorithms.push_back(&board);
  const AddedSpan added = added_algorithms();
  algorithms.insert(algorithms.end(), added.begin(), added.end());
  newly_lost_.reserve(state.ranks);
  uses_.resize(algorithms.size());
  names_.reserve(algorithms.size());
  state.add_statistics({{"collectives", "operations", &counts_.operations},
                        {"collective_messages", "messages", &counts_.messages},
                        {"collective_control", "messages", &counts_.control},
                        {"collective_redirected", "bytes", &counts_.redirected},
                        {"teams_without_scratch", "teams", &teams_without_scratch_},
                        {"collective_scratch_most", "bytes", &memory().high_water()},
                        {"choices_by_rules", "choices", &choices_.by_rules},
                        {"choices_by_model", "choices", &choices_.by_model},
                        {"choices_by_measurement", "choices", &choices_.by_measurement},
                        {"learning_trials", "calls", &choices_.trials},
                        {"learning_changes", "changes", &choices_.changes}});
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    names_.push_back(fmt::format("{}_{}", operation_word(algorithms[i]->operation), algorithms[i]->name));
    state.statistics_rows.push_back({names_.back(), "operations", &uses_[i]});
  }
}

Collectives::~Collectives() {
  for (auto& [id, team] : teams_) team.engine->team_.slot(TeamSlot::collectives) = nullptr;
}

std::span<const SettingInfo> Collectives::settings() noexcept { return {&TeamOffers::kSetting, 1}; }

void Collectives::refuse(TeamState& team, const CallDescription& call, Status why) noexcept {
  if (TeamEngine* const engine = engine_of(team)) engine->refuse(call, why);
}

void Collectives::tell_finish() noexcept {
  for (const auto& [id, team] : teams_) {
    const TeamEngine& engine = *team.engine;
    if (engine.team().size() > 1 && engine.broken().ok()) tell(engine, engine.calls() + 1, kFinished);
  }
}

void Collectives::tell_learned(LearnedDecisions& out) const {
  out.add(learned_);
  for (const auto& [id, team] : teams_) {
    // What members agreed on before one was lost still holds. What broke the team otherwise may have changed the times.
    const Status broken = team.engine->broken();
    if (broken.ok() || broken.code() == ErrorCode::peer_lost) team.engine->tell_learned(out);
  }
}

Result<void*> Collectives::bind(TeamState& team, const Request& request) noexcept {
  TeamEngine* const engine = engine_of(team);
  if (engine == nullptr) return ErrorCode::closed;
  const auto plan = engine->bind(request);
  if (!plan) return plan.status();
  return static_cast<void*>(*plan);
}

Result<void*> Collectives::bind(TeamState& team, BlocksCall& call) noexcept {
  TeamEngine* const engine = engine_of(team);
  if (engine == nullptr) {
    blocks_calls_.give_back(call);
    return ErrorCode::closed;
  }
  const auto plan = engine->bind(call);
  if (!plan) return plan.status();
  return static_cast<void*>(*plan);
}

Event Collectives::start(Plan& plan) noexcept {
  return plan.engine != nullptr ? plan.engine->start(plan) : Event(Status(ErrorCode::closed));
}

Status Collectives::end(void* plan) noexcept {
  Plan& bound = *static_cast<Plan*>(plan);
  // A plan whose team has ended stays until `drop`: the caller keeps it after a failure.
  if (bound.engine == nullptr || bound.team_gone) return ErrorCode::closed;
  return bound.engine->end(bound);
}

void Collectives::drop(void* plan) noexcept {
  Plan& bound = *static_cast<Plan*>(plan);
  if (bound.engine != nullptr) {
    bound.engine->drop(bound);
  } else {
    delete &bound;
  }
}

std::string Collectives::explain(TeamState& team, const Shape& shape, std::uint32_t narrow) {
  const TeamEngine* const engine = engine_of(team);
  return engine != nullptr ? engine->explain(shape, narrow) : "the team has ended";
}

Cost Collectives::cost_on_board(TeamState& team, const Choice& choice) {
  const TeamEngine* const engine = engine_of(team);
  return engine != nullptr ? engine->cost_on_board(choice) : Cost{};
}

Choice Collectives::choice(TeamState& team, const Shape& shape) noexcept {
  const TeamEngine* const engine = engine_of(team);
  return engine != nullptr ? engine->choice(shape) : Choice{};
}

AddedSpan Collectives::added_algorithms() const noexcept {
  return algorithms_of(state_.config.added_algorithms());
}

std::size_t Collectives::index_of(const Algorithm& algorithm) const noexcept {
  const auto all = all_algorithms();
  if (algorithm.added != nullptr) {
    const AddedSpan added = added_algorithms();
    return all.size() + native_algorithms().size() + board_algorithms().size() +
           static_cast<std::size_t>(std::find(added.begin(), added.end(), &algorithm) - added.begin());
  }
  if (algorithm.board != BoardMethod::none)
    return all.size() + native_algorithms().size() +
           static_cast<std::size_t>(&algorithm - board_algorithms().data());
  if (algorithm.native) return all.size() + static_cast<std::size_t>(&algorithm - native_algorithms().data());
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), &algorithm) - all.begin());
}

/// Takes the team to which `at` points off the list.
void Collectives::unlist(TeamEngine** at) noexcept {
  TeamEngine& team = **at;
  team.listed_ = false;
  *at = std::exchange(team.next_busy_, nullptr);
  if (*at == nullptr) busy_end_ = at;
}

/// `soon`: something waits for room, so a sleep must be short.
void Collectives::set_busy(bool soon) noexcept {
  busy_.set(soon || aborts_.busy() || !newly_lost_.empty());
  watching_.set(first_busy_ != nullptr || !leaving_.empty());
}

void Collectives::advance() noexcept {
  if (!newly_lost_.empty() && !state_.stands_in) [[unlikely]]
    tell_losses();
  bool soon = aborts_.advance();
  // Others may join the end of the list meanwhile.
  for (TeamEngine** at = &first_busy_; *at != nullptr;) {
    TeamEngine& team = **at;
    soon |= team.advance();
    if (team.busy())
      at = &team.next_busy_;
    else
      unlist(at);
  }
  if (!leaving_.empty()) [[unlikely]] {
    std::erase_if(leaving_, [](const auto& team) {
      static_cast<void>(team->advance());
      return !team->busy();
    });
  }
  set_busy(soon);
}

void Collectives::fail(TeamState& team, Status why) noexcept {
  TeamEngine* const engine = engine_of(team);
  if (engine == nullptr) return;
  engine->fail(why, 0);
  look_busy(*engine);
}

bool Collectives::knows_of_loss(Rank peer) const noexcept {
  return state_.lost[peer] || std::find(newly_lost_.begin(), newly_lost_.end(), peer) != newly_lost_.end();
}

bool Collectives::learns_of_loss(Rank peer) noexcept {
  if (peer >= state_.ranks || peer == state_.rank || state_.lost[peer]) return false;
  if (!knows_of_loss(peer)) newly_lost_.push_back(peer);
  busy_.set(true);
  return true;
}

void Collectives::tell_losses() noexcept {
  while (!newly_lost_.empty()) {
    const Rank peer = newly_lost_.front();  // in order: errors name the first one
    newly_lost_.erase(newly_lost_.begin());
    state_.peer_lost(peer);
  }
}

void Collectives::peer_lost(Rank peer) noexcept {
  aborts_.peer_lost(peer);
  questions_.peer_lost(peer);
  for (auto& [id, team] : teams_) {
    if (team.engine->team().find(peer) == kNoRank) continue;
    // What has arrived counts: the peer may have left after its part was done.
    static_cast<void>(team.engine->advance());
    team.engine->fail({ErrorCode::peer_lost, peer}, 0);
    look_busy(*team.engine);
  }
}

void Collectives::describe(std::string& text, Rank) const {
  for (const TeamEngine* team = first_busy_; team != nullptr; team = team->next_busy_)
    team->describe(text, questions_);
}

}  // namespace aqueduct::coll
