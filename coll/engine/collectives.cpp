#include "coll/engine/collectives.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"
#include "core/signals.hpp"
#include "core/wait.hpp"

#include <algorithm>
#include <new>
#include <tuple>
#include <utility>

namespace aqueduct::coll {

using aqueduct::detail::TeamSlot;

namespace {

/// Chosen: with shorter banks, blocks of more than 100 KiB go in thousands of pieces.
constexpr std::uint64_t kShortBank = 1024;

/// The table of the words that rank 0 has told. All ranks have got them whole, or the job would not have started.
std::shared_ptr<const TuningTable> agreed_tuning(const EndpointState& state) {
  std::optional<TuningTable> table;
  if (state.tuning != nullptr) table = TuningTable::from(*state.tuning);
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
  newly_lost_.reserve(state.ranks);
  uses_.resize(algorithms.size());
  names_.reserve(algorithms.size());
  state.add_statistics({{"collectives", "operations", &counts_.operations},
                        {"collective_messages", "messages", &counts_.messages},
                        {"collective_control", "messages", &counts_.control},
                        {"collective_redirected", "bytes", &counts_.redirected},
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

TeamOffer Collectives::prepare(TeamState& team) {
  const Offer mine = offers_.take(team.size());
  try {
    prepare(team, mine);
  } catch (const std::bad_alloc&) {
    offers_.give_back(mine);
    throw;
  }
  return mine;
}

/// The sizes of a new team's scratch, the same on all members: what the least of them has offered. Empty: no collective
/// operation can run, and the log says why.
std::optional<ScratchSizes> Collectives::sizes_of(const TeamState& team, const Offer& mine,
                                                  std::span<const Offer> all,
                                                  const BoardRoom& board) noexcept {
  if (team.size() == 1) return agreed_sizes(all);
  if (all[team.index] != mine) {
    state_.log.error(
        "a team of {} ranks has no memory for collective operations: what came back as this rank's offer "
        "(counters {} to {}, bytes {} to {}) is not what it has sent",
        team.size(), all[team.index].first_counter, all[team.index].first_counter + all[team.index].counters,
        all[team.index].offset, all[team.index].offset + all[team.index].bytes);
    return std::nullopt;
  }
  const std::optional<ScratchSizes> sizes = agreed_sizes(all, board);
  if (sizes && (sizes->bytes >= kShortBank || board.slots != 0)) return sizes;
  const auto least = std::min_element(all.begin(), all.end(), [](const Offer& a, const Offer& b) {
    return std::tie(a.bytes, a.counters) < std::tie(b.bytes, b.counters);
  });
  // All members find the same: one of them says it.
  if (static_cast<Rank>(least - all.begin()) != team.index) return sizes;
  if (sizes) {
    if (!std::exchange(told_of_short_bank_, true)) {
      state_.log.warn(
          "a team of {} ranks has only {} bytes of memory for collective operations, and later teams will "
          "have no more. Calls with long blocks are cut into many short pieces, and may take seconds. End "
          "teams that are no longer used (Team::end), or raise AQUEDUCT_COLL_SCRATCH on all ranks",
          team.size(), sizes->bytes);
    }
    return sizes;
  }
  state_.log.warn(
      "a team of {} ranks has no memory for collective operations, which will fail with no_memory: this rank "
      "offers {} bytes and {} counters. End teams that are not used any more (Team::end), or raise "
      "AQUEDUCT_COLL_SCRATCH and AQUEDUCT_COLL_COUNTERS on all ranks",
      team.size(), least->bytes, least->counters);
  return std::nullopt;
}

void Collectives::prepare(TeamState& team, const Offer& mine) {
  leaving_.reserve(teams_.size() + leaving_.size() + 1);
  auto engine = std::make_unique<TeamEngine>(*this, team);
  engine->make_native();
  TeamEngine* const made = engine.get();
  try {
    // As if all members offered the same: then there is nothing to change when their offers are known.
    const std::vector<Offer> alike(team.size(), mine);
    const BoardRoom board = engine->shares_memory() ? agreed_board(alike, engine->is_crowded()) : BoardRoom{};
    give_scratch(*engine, agreed_sizes(alike, board), mine, board);
    Team& known = teams_[team.id];
    known = {std::move(engine), mine};
  } catch (const std::bad_alloc&) {
    made->give_back_native();  // no member has used it
    throw;
  }
  team.slot(TeamSlot::collectives) = made;
  aborts_.take_kept(team.id);
}

Status Collectives::settle(TeamState& team, std::span<const Offer> all) noexcept try {
  const Team& one = teams_.find(team.id)->second;
  std::vector<MemberPlace> places;
  places.reserve(all.size());
  // The same on all members: what the least of them has.
  const BoardRoom board =
      one.engine->shares_memory() ? agreed_board(all, one.engine->is_crowded()) : BoardRoom{};
  for (const Offer& offer : all) places.push_back({offer.first_counter, offer.offset + taken_by(board)});
  one.engine->know(TeamPlaces(std::move(places)));
  const std::optional<ScratchSizes> sizes = sizes_of(team, one.mine, all, board);
  give_scratch(*one.engine, sizes, one.mine, board);
  if (sizes && board.slots != 0) one.engine->have_board(board, all);
  if (one.engine->layout_) one.engine->prepare_barriers();
  // The member may have been lost while the team was made: nobody tells the engine again.
  if (const Status loss = team.loss(); !loss) one.engine->fail(loss, 0);
  return {};
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, state_.rank};
}

void Collectives::enter(TeamState& team, std::span<const Offer> all) {
  prepare(team, all[team.index]);
  // All ranks have told their offers when the job started.
  const TeamEngine& engine = *engine_of(team);
  choose_native(team, engine.native_offer() != 0 && engine.native_offer() == engine.native_offer_of_all());
  if (!settle(team, all)) throw std::bad_alloc();
}

/// Gives an engine scratch of these sizes, in a place of this rank; or none. May throw std::bad_alloc.
void Collectives::give_scratch(TeamEngine& engine, const std::optional<ScratchSizes>& sizes,
                               const Offer& mine, const BoardRoom& board) {
  const Rank members = engine.team().size();
  if (!sizes || members == 1) return engine.have_no_scratch();
  engine.have_scratch(*sizes, offers_.bytes_of(mine) + taken_by(board), offers_.counters_of(mine));
}

Status Collectives::drain(TeamState& team) noexcept {
  TeamEngine* const engine = engine_of(team);
  if (engine == nullptr) return {};
  return core::wait_until(
      state_, [&] { return engine->at_rest(); }, kNoRank,
      [&] { return fmt::format("the end of the collective operations of a team of {} ranks", team.size()); });
}

bool Collectives::idle(TeamState& team) noexcept {
  const TeamEngine* const engine = engine_of(team);
  return engine == nullptr || engine->idle();
}

void Collectives::leave(TeamState& team, bool together) noexcept {
  TeamEngine* const engine = engine_of(team);
  if (engine == nullptr) return;
  team.slot(TeamSlot::collectives) = nullptr;
  const bool clean = engine->idle();
  if (together && clean) engine->tell_learned(learned_);  // no file is written before the job ends
  engine->fail(ErrorCode::closed, 0);
  static_cast<void>(engine->advance());
  for (TeamEngine** at = &first_busy_; *at != nullptr; at = &(*at)->next_busy_) {
    if (*at != engine) continue;
    unlist(at);
    break;
  }
  const auto at = teams_.find(team.id);
  Team gone = std::move(at->second);
  teams_.erase(at);
  if (together && clean) {
    offers_.give_back(gone.mine);
    engine->give_back_native();
  }
  aborts_.forget(team.id);
  questions_.forget(team.id);
  if (engine->busy()) {  // room for it was reserved in `enter`
    gone.engine->detach();
    leaving_.push_back(std::move(gone.engine));
  }
  set_busy(false);
}

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
    if (team.engine->broken().ok()) team.engine->tell_learned(out);
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

std::string Collectives::explain(TeamState& team, const Shape& shape) {
  const TeamEngine* const engine = engine_of(team);
  return engine != nullptr ? engine->explain(shape) : "the team has ended";
}

Choice Collectives::choice(TeamState& team, const Shape& shape) noexcept {
  const TeamEngine* const engine = engine_of(team);
  return engine != nullptr ? engine->choice(shape) : Choice{};
}

std::size_t Collectives::index_of(const Algorithm& algorithm) noexcept {
  const auto all = all_algorithms();
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

void Collectives::tell(const TeamEngine& team, std::uint64_t number, const CallDescription& call) noexcept {
  aborts_.tell(team.team(), number, call);
  set_busy(true);
}

bool Collectives::heard(void* self, std::uint64_t id, Rank from, std::uint64_t number,
                        const CallDescription& theirs) noexcept {
  auto& all = *static_cast<Collectives*>(self);
  const auto team = all.teams_.find(id);
  if (team == all.teams_.end()) return false;
  TeamEngine& engine = *team->second.engine;
  if (engine.team().find(from) == kNoRank) return true;  // nonsense of a stranger
  if (is_set_up(theirs)) {
    // Another member has found that this rank, or a third one, is in an exchange, and it is not.
    if (all.set_ups_ != nullptr && all.set_ups_->give_up(id, theirs.bytes, {ErrorCode::mismatch, from}))
      all.state_.log.error(
          "rank {} waits in call {} of a team; this rank is in Team::split, dup, use_scratch, use_tree, or "
          "Segment::create or release, of that team",
          from, number);
    return true;
  }
  engine.heard(from, number, theirs);
  all.look_busy(engine);
  return true;
}

bool Collectives::last_call(void* self, std::uint64_t id, Rank asker, std::uint64_t& number,
                            CallDescription& call) {
  const auto& all = *static_cast<const Collectives*>(self);
  const auto team = all.teams_.find(id);
  if (team == all.teams_.end() || team->second.engine->team().find(asker) == kNoRank) return false;
  const TeamEngine& engine = *team->second.engine;
  const CallDescription* const asked = engine.call_of(number);
  const std::uint64_t exchange = all.set_ups_ != nullptr ? all.set_ups_->under_way(id) : 0;
  if (asked == nullptr && number > engine.agreement_.made() && exchange != 0) {
    call = set_up_call(exchange);
    return true;
  }
  if (asked == nullptr && number > engine.agreement_.made() && all.set_ups_ != nullptr &&
      all.set_ups_->finishing()) {
    call = kFinished;
    return true;
  }
  if (asked == nullptr) number = engine.agreement_.made();
  const CallDescription* const told = asked != nullptr ? asked : engine.call_of(number);
  if (told == nullptr) return false;
  call = *told;
  return true;
}

// Members that differ and never exchange a message would wait for ever.
void Collectives::last_call_said(void* self, std::uint64_t id, Rank from, std::uint64_t number,
                                 const CallDescription& theirs) {
  auto& all = *static_cast<Collectives*>(self);
  const auto team = all.teams_.find(id);
  if (team == all.teams_.end()) return;
  TeamEngine& engine = *team->second.engine;
  const CallDescription* const mine = engine.call_of(number);
  if (mine == nullptr) return;
  if (is_set_up(theirs)) {
    // If this rank has taken part in that exchange, the other one is only late.
    if (!engine.broken_.ok() || all.set_ups_ == nullptr || all.set_ups_->begun(id) >= theirs.bytes ||
        engine.team_.find(from) == kNoRank)
      return;
    static_cast<void>(all.set_ups_->give_up(id, theirs.bytes, {ErrorCode::mismatch, from}));
    all.tell(engine, number, theirs);
    engine.heard(from, number, theirs);
    all.look_busy(engine);
    return;
  }
  if (theirs != kFinished && !TeamAgreement::differ(*mine, theirs)) return;
  static_cast<void>(heard(self, id, from, number, theirs));
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
