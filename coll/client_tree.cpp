// A tree of the team that the program gives.

#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/exchange.hpp"
#include "coll/one_caller.hpp"
#include "coll/tune/tree_setting.hpp"
#include "core/entry.hpp"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace aqueduct {

using coll::TeamTree;
using detail::EndpointState;
using detail::TeamState;

namespace {

/// What a member says about its tree. Both numbers are 0 if it gives none.
struct TreeProposal {
  static constexpr std::uint64_t kForm = 0x74726565'74656101;  ///< tells it from what other calls exchange
  std::uint64_t form = kForm;
  std::uint64_t edges = 0;   ///< a hash of the parents, and
  std::uint64_t places = 0;  ///< of the places
  friend bool operator==(const TreeProposal&, const TreeProposal&) = default;
};

std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) noexcept {
  hash = (hash ^ with) * 0x9e37'79b9'7f4a'7c15;
  return hash ^ (hash >> 29);
}

TreeProposal proposal_of(const TeamTree& tree) noexcept {
  TreeProposal out;
  out.edges = out.places = tree.ranks();
  for (Rank member = 0; member < tree.ranks(); ++member) {
    out.edges = mixed(out.edges, tree.parent(member));
    out.places = mixed(out.places, tree.place_of(member));
  }
  return out;
}

/// Whether all members give the same tree. Errors: mismatch.
Status compared(const TeamState& team, const coll::Contributions& said) noexcept {
  TreeProposal first;
  for (Rank i = 0; i < team.size(); ++i) {
    TreeProposal one;
    if (said[i].size() != sizeof one) return {ErrorCode::mismatch, team.members[i]};
    std::memcpy(&one, said[i].data(), sizeof one);
    if (i == 0) first = one;
    if (one.form == TreeProposal::kForm && one == first) continue;
    team.endpoint.log.error("use_tree on a team of {} ranks: rank {} gives another tree than rank {}",
                            team.size(), team.members[i], team.members[0]);
    return {ErrorCode::mismatch, team.members[i]};
  }
  return {};
}

/// What this member has against the call, before it knows of the others. `read`: what it was given. May throw std::bad_alloc.
Status problem_of(TeamState& team, coll::Collectives& engine, const coll::TreeRead& read) {
  const coll::BarrierState& barrier = *coll::barrier_of(team);
  std::string why = read.problem;
  if (why.empty() && read.recipe) why = read.recipe->refusal(team.size());
  if (why.empty() && read.recipe && !read.recipe->parents.empty())
    why = TeamTree::objection(read.recipe->parents);  // read from words, they have been looked at
  if (why.empty() && (barrier.waiting || barrier.in_flight() != 0))
    why = "a split-phase barrier of the team is not over";
  if (why.empty() && coll::Collectives::has_plans(team))
    why = "plans of the team are bound: end them, and bind them after use_tree";
  if (why.empty()) return engine.drain(team);
  team.endpoint.log.error("use_tree on a team of {} ranks by member {}: {}", team.size(), team.index, why);
  return ErrorCode::invalid_argument;
}

Status use_tree_of(TeamState& team, const coll::TreeRead& read, Status problem) noexcept {
  EndpointState& state = team.endpoint;
  coll::TeamEngine& engine = *coll::Collectives::engine_of(team);
  coll::Exchanges& exchanges = state.barriers->exchanges();
  coll::TeamEngine::NewTree made;
  TreeProposal mine;
  try {
    if (problem) problem = problem_of(team, *state.layer<coll::Collectives>(), read);
    if (problem) problem = engine.broken();
    if (problem) made = engine.make_tree(read.recipe ? &*read.recipe : nullptr);
    if (made.tree) mine = proposal_of(*made.tree);
  } catch (const std::bad_alloc&) {
    problem = {ErrorCode::no_memory, state.rank};
  }
  // Behind it nothing of the team is in flight: each member has come after its own operations were over.
  const auto said = exchanges.exchange(team, coll::SetUp::tree, std::as_bytes(std::span(&mine, 1)), problem);
  if (!said) {
    // One that has failed alone takes part in what follows all the same: the others wait for it.
    const bool ends_for_all =
        said.status().code() == ErrorCode::peer_lost && team.find(said.status().peer()) != kNoRank;
    return ends_for_all ? said.status() : exchanges.agree(team, said.status());
  }
  const Status same = compared(team, *said);
  if (const Status agreed = exchanges.agree(team, same); !agreed) {
    // This rank alone does not know that all agree: the others may have the new tree.
    if (same && agreed.peer() == team.endpoint.rank) engine.fail(agreed, 0);
    return agreed;
  }
  engine.use_tree(std::move(made));
  return {};
}

/// `read` may throw std::bad_alloc.
template <class Read>
Status use_tree_on(TeamState& team, const Read& read) noexcept {
  if (coll::barrier_of(team) == nullptr) return ErrorCode::closed;
  const core::Entry entry(team.endpoint);
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (team.endpoint.must_not_wait()) return ErrorCode::in_handler;
  if (coll::Collectives::engine_of(team) == nullptr) return ErrorCode::closed;
  const coll::OneCaller one(team);
  coll::TreeRead given;
  Status problem;
  try {
    given = read();
  } catch (const std::bad_alloc&) {
    problem = {ErrorCode::no_memory, team.endpoint.rank};
  }
  return use_tree_of(team, given, problem);
}

}  // namespace

Status Team::use_tree(std::string_view words) noexcept {
  return use_tree_on(*state_, [&] { return coll::read_tree(words); });
}

Status Team::use_tree(std::span<const Rank> parents) noexcept {
  return use_tree_on(*state_, [&] {
    coll::TreeRead given;
    if (parents.empty()) return given;
    given.recipe.emplace();
    given.recipe->parents.assign(parents.begin(), parents.end());
    return given;
  });
}

}  // namespace aqueduct
