// What members tell each other of their calls: what this rank hears of theirs, and what it says of its own.

#include "coll/engine/collectives.hpp"

namespace aqueduct::coll {

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

}  // namespace aqueduct::coll
