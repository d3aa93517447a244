#include "c/convert.hpp"

#include <optional>

using namespace aqueduct;

namespace aqueduct::c {
namespace {

Team& whole_team(aq_team* team) noexcept { return *reinterpret_cast<Team*>(team); }
const Team& whole_team(const aq_team* team) noexcept { return *reinterpret_cast<const Team*>(team); }

/// Stores a handle of the team that `split` returns; null for a member that is in none. The memory of the handle comes
/// first, as in hand_over.
template <class F>
aq_status store_part(aq_team** made, F split) noexcept {
  return guarded([&]() -> Status {
    HandleMemory<Team> memory;
    if (!memory) return ErrorCode::no_memory;
    auto part = split();
    if (!part) return part.status();
    *made = *part ? reinterpret_cast<aq_team*>(memory.hold(std::move(**part))) : nullptr;
    return {};
  });
}

}  // namespace
}  // namespace aqueduct::c

aq_team* aq_world(aq_endpoint* ep) {
  if (c::lacks("aq_world", {{"ep", ep}})) return nullptr;
  return reinterpret_cast<aq_team*>(&c::whole(ep).world());
}
aq_status aq_barrier(aq_endpoint* ep) {
  if (c::lacks("aq_barrier", {{"ep", ep}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole(ep).barrier());
}

uint32_t aq_team_size(const aq_team* team) {
  if (c::lacks("aq_team_size", {{"team", team}})) return 0;
  return c::whole_team(team).size();
}
uint32_t aq_team_index(const aq_team* team) {
  if (c::lacks("aq_team_index", {{"team", team}})) return AQ_NO_RANK;
  return c::whole_team(team).index();
}
uint32_t aq_team_rank_of(const aq_team* team, uint32_t index) {
  if (c::lacks("aq_team_rank_of", {{"team", team}})) return AQ_NO_RANK;
  return c::whole_team(team).rank_of(index);
}
uint32_t aq_team_index_of(const aq_team* team, uint32_t rank) {
  if (c::lacks("aq_team_index_of", {{"team", team}})) return AQ_NO_RANK;
  return c::whole_team(team).index_of(rank);
}

aq_status aq_team_split(aq_team* team, int64_t colour, int64_t key, aq_team** made) {
  if (c::lacks("aq_team_split", {{"team", team}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  if (colour != AQ_NO_COLOUR && (colour < 0 || colour > UINT32_MAX))
    return c::plain(ErrorCode::invalid_argument);
  std::optional<std::uint32_t> chosen;
  if (colour != AQ_NO_COLOUR) chosen = static_cast<std::uint32_t>(colour);
  return c::store_part(made, [&] { return c::whole_team(team).split(chosen, key); });
}
aq_status aq_team_create(aq_endpoint* ep, const uint32_t* ranks, size_t count, uint64_t tag, aq_team** made) {
  if (c::lacks("aq_team_create", {{"ep", ep}, {"made", made}})) return c::plain(ErrorCode::invalid_argument);
  if (ranks == nullptr && count != 0) return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&] {
    return c::hand_over([&] { return Team::create(c::whole(ep), {ranks, count}, tag); }, made);
  });
}
aq_status aq_team_create_of_list(aq_endpoint* ep, const aq_rank_list* members, uint64_t tag, aq_team** made) {
  if (c::lacks("aq_team_create_of_list", {{"ep", ep}, {"members", members}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::guarded(
      [&] { return c::hand_over([&] { return Team::create(c::whole(ep), c::whole(members), tag); }, made); });
}
aq_status aq_team_split_list(aq_team* team, const aq_rank_list* members, aq_team** made) {
  if (c::lacks("aq_team_split_list", {{"team", team}, {"members", members}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::store_part(made, [&] { return c::whole_team(team).split(c::whole(members)); });
}
aq_status aq_team_dup(aq_team* team, aq_team** made) {
  if (c::lacks("aq_team_dup", {{"team", team}, {"made", made}})) return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&] { return c::hand_over([&] { return c::whole_team(team).dup(); }, made); });
}

aq_status aq_team_rank_list(const aq_team* team, aq_rank_list** made) {
  if (c::lacks("aq_team_rank_list", {{"team", team}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&] { return c::hand_over([&] { return c::whole_team(team).rank_list(); }, made); });
}
aq_status aq_team_on_my_host(const aq_team* team, aq_rank_list** made) {
  if (c::lacks("aq_team_on_my_host", {{"team", team}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&] { return c::hand_over([&] { return c::whole_team(team).on_my_host(); }, made); });
}
aq_status aq_team_host_leaders(const aq_team* team, aq_rank_list** made) {
  if (c::lacks("aq_team_host_leaders", {{"team", team}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&] { return c::hand_over([&] { return c::whole_team(team).host_leaders(); }, made); });
}
aq_status aq_team_translate(const aq_team* from, const uint32_t* indices, size_t count, const aq_team* to,
                            uint32_t* into) {
  if (c::lacks("aq_team_translate", {{"from", from}, {"to", to}}))
    return c::plain(ErrorCode::invalid_argument);
  if ((indices == nullptr || into == nullptr) && count != 0) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole_team(from).translate({indices, count}, c::whole_team(to), {into, count}));
}
int aq_team_compare(const aq_team* a, const aq_team* b) {
  if (c::lacks("aq_team_compare", {{"a", a}, {"b", b}})) return AQ_LIKENESS_DIFFERENT;
  return static_cast<int>(c::whole_team(a).compare(c::whole_team(b)));
}

aq_status aq_team_end(aq_team* team) {
  if (c::lacks("aq_team_end", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole_team(team).end());
}
void aq_team_destroy(aq_team* team) { delete reinterpret_cast<Team*>(team); }

aq_status aq_team_notify(aq_team* team) {
  if (c::lacks("aq_team_notify", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole_team(team).notify());
}
bool aq_team_try_wait(aq_team* team) {
  if (c::lacks("aq_team_try_wait", {{"team", team}})) return true;
  return c::whole_team(team).try_wait();
}
aq_status aq_team_wait(aq_team* team) {
  if (c::lacks("aq_team_wait", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole_team(team).wait());
}
aq_status aq_team_barrier(aq_team* team) {
  if (c::lacks("aq_team_barrier", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole_team(team).barrier());
}
aq_event aq_team_barrier_nb(aq_team* team) {
  if (c::lacks("aq_team_barrier_nb", {{"team", team}}))
    return c::plain(Event(Status(ErrorCode::invalid_argument)));
  return c::plain(c::whole_team(team).barrier_nb());
}
aq_status aq_team_notify_value(aq_team* team, uint32_t value) {
  if (c::lacks("aq_team_notify_value", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole_team(team).notify(value));
}
aq_status aq_team_disagree(aq_team* team) {
  if (c::lacks("aq_team_disagree", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole_team(team).disagree());
}
bool aq_team_agreed(const aq_team* team, uint32_t* value) {
  if (c::lacks("aq_team_agreed", {{"team", team}})) return false;
  const std::optional<std::uint32_t> agreed = c::whole_team(team).agreed();
  if (agreed && value != nullptr) *value = *agreed;
  return agreed.has_value();
}
aq_status aq_team_barrier_value(aq_team* team, uint32_t value) {
  if (c::lacks("aq_team_barrier_value", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole_team(team).barrier(value));
}
aq_event aq_team_barrier_value_nb(aq_team* team, uint32_t value) {
  if (c::lacks("aq_team_barrier_value_nb", {{"team", team}}))
    return c::plain(Event(Status(ErrorCode::invalid_argument)));
  return c::plain(c::whole_team(team).barrier_nb(value));
}
