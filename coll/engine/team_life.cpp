// The engine of a team: it begins with scratch for its calls, and ends when nothing is in flight.

#include "coll/engine/collectives.hpp"
#include "core/wait.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace aqueduct::coll {

using aqueduct::detail::TeamSlot;

namespace {

/// Chosen: with shorter banks, blocks of more than 100 KiB go in thousands of pieces.
constexpr std::uint64_t kShortBank = 1024;

}  // namespace

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
  if (!sizes) ++teams_without_scratch_;
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
  if (!std::exchange(told_of_no_scratch_, true)) {
    state_.log.warn(
        "a team of {} ranks has no memory for collective operations, which will fail with no_memory: this "
        "rank offers {} bytes and {} counters. End teams that are not used any more (Team::end), or raise "
        "AQUEDUCT_COLL_SCRATCH and AQUEDUCT_COLL_COUNTERS on all ranks. Further such teams are only counted "
        "(teams_without_scratch among the statistics)",
        team.size(), least->bytes, least->counters);
  }
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
  if (sizes && state_.log.writes(core::LogLevel::debug)) one.engine->tell_place(one.mine);
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

}  // namespace aqueduct::coll
