#pragma once

#include "coll/engine/call_record.hpp"
#include "coll/engine/learning.hpp"
#include "coll/engine/request.hpp"
#include "coll/engine/team_offers.hpp"
#include "coll/scratch/team_scratch.hpp"
#include "coll/tune/chooser.hpp"
#include "coll/tune/decision.hpp"
#include "coll/tune/learned_decisions.hpp"
#include "coll/tune/tuned_chooser.hpp"
#include "coll/tune/tuning_file.hpp"
#include "team/team_state.hpp"
#include "topology/placement.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct::coll {

using aqueduct::detail::EndpointState;
using aqueduct::detail::TeamState;

class Collectives;

/// What the members of a team choose algorithms by, what they choose, and what they learn of it: the same on all members.
///
/// The part of a TeamEngine that answers questions and begins no call.
class TeamChoices {
 public:
  TeamChoices(const TeamChoices&) = delete;
  TeamChoices& operator=(const TeamChoices&) = delete;

  /// The members by hosts; null: no schedule goes by them.
  const Groups* groups() const noexcept { return traits_.groups; }
  const TeamTree* tree() const noexcept { return traits_.tree; }
  TeamKind kind() const noexcept { return kind_of(traits_); }
  TuningKey key_for(const Shape& shape) const noexcept { return key_of(shape, traits_); }
  /// Of the conduit that serves a pair of members as far apart as the team has. Requires: two members.
  const core::Properties& farthest_conduit() const noexcept;
  /// Where decisions about the team belong.
  TuningPlace tuning_place() const;

  /// What the team's members choose by.
  const TuningTable& tuning() const noexcept { return chooser_.table(); }
  /// Whether all members have the same table. If not, which no program can bring about, the rules choose on all of them.
  void choose_tuning(bool all_alike) noexcept;
  /// A setting names the algorithm; that of barriers only if the team can follow it.
  bool is_forced(Collective operation) const noexcept;
  /// Whether the engine carries out the team's barriers. The same on all members.
  bool has_barriers() const noexcept { return has_barriers_; }

  /// How a call of this shape is carried out; no algorithm on a team of one member, or without scratch. Of operations whose
  /// blocks may differ: how the members compare their lengths first.
  Choice choice(const Shape& shape) const noexcept;
  /// Requires: the algorithm is one of a board. May throw std::bad_alloc.
  Cost cost_on_board(const Choice& choice) const;
  Choice choice_of_comparing() const noexcept;
  Choice choice_of_moving(Collective operation, std::uint64_t longest) const noexcept;

  /// `narrow`: as OnBoard.
  std::string explain(const Shape& shape, std::uint32_t narrow = 0) const;
  /// What a barrier of the team is, for Team::explain, if its conduit has none.
  std::string explain_barrier() const;
  /// What a call whose blocks may differ is, if its blocks are all alike.
  std::string explain_blocks(const Shape& asked) const;

  /// Algorithms worth measuring for a shape of the key: so many of the model's first ones; those of the board and of the
  /// conduit; and the one that would run now. All of them can do the shape. The same on all members. May throw std::bad_alloc.
  std::vector<Timed> worth_measuring(const TuningKey& key, const Shape& shape, std::size_t most) const;
  NetworkModel usual_model() const;

  /// Says in the log to which domain of a pretended topology this member's board and scratch belong. A real machine's pages are
  /// placed, and told, by the conduit that shares them. May throw std::bad_alloc.
  void tell_place(const TeamOffer& mine) const;

  // Learning while the program runs: coll/learned_calls.hpp.

  /// Null: the setting is off, or the team has one member.
  const Learning* learning() const noexcept { return learning_.get(); }
  /// The key of a blocking call, with the algorithms that are tried for it. Null: nothing is learned about such calls. A key's
  /// first call takes as long as the first choice by a model. May throw std::bad_alloc.
  Learning::Key* key_to_learn(const Request& request);
  /// Adds what the team has learned, if this is the first member and the setting names a file of decisions.
  void tell_learned(LearnedDecisions& out) const noexcept;

 protected:
  TeamChoices(Collectives& all, TeamState& team);
  ~TeamChoices();

  // domains.cpp
  const topology::Placement* placement() const;
  TeamTraits traits_for(const Shape& shape) const;
  OnBoard on_board(std::uint32_t narrow) const;
  std::string explain_memory(const Shape& shape, const TeamTraits& traits) const;
  std::string explain_packed(const Shape& shape) const;
  // explained_choices.cpp
  std::string explain_network() const;
  // candidates_of_team.cpp
  std::vector<Timed> field_of(const TuningKey& key, const Shape& asked) const;

  // learning.cpp
  void leave_learning() noexcept;

  // methods.cpp
  Shape asked_of(const Request& request) const noexcept;
  bool rest_fits(const Method& method, const Request& request) const noexcept;
  std::string wrong_steps_of(const Method& method) const;
  Status choose_into(Method& method, const Shape& asked, const Request& request) noexcept;
  std::uint32_t hash_of(const Method& method) const;
  // runs.cpp
  Needs needs_of(const Request& request, const Algorithm& algorithm, const Shape& shape,
                 std::uint64_t& temp_at, std::uint64_t& stage_at) const noexcept;
  /// Why this member refuses a call for which it gets no memory. It names its rank, as the other members do.
  Status no_memory_here() const noexcept { return {ErrorCode::no_memory, state_.rank}; }

  Choice choice_of_barriers() const noexcept;
  Choice usual_choice_of_barriers() const noexcept;
  TeamTraits traits_of_barriers() const noexcept {
    TeamTraits traits = traits_;
    traits.native = nullptr;
    return traits;
  }
  /// Of what the library does for itself, above all barriers: by its own algorithms, whatever the conduit offers.
  TeamTraits traits_without_native() const noexcept {
    TeamTraits traits = traits_of_barriers();
    traits.board = {};
    return traits;
  }

  Collectives& layer_;
  EndpointState& state_;
  TeamState& team_;
  const std::uint64_t id_;
  const Rank ranks_;
  const Rank position_;
  TeamTraits traits_;  ///< without the domains of memory, which `traits_for` adds
  /// Null: the members are in one domain, or nothing is known.
  mutable std::unique_ptr<topology::Placement> placement_;
  mutable bool knows_placement_ = false;
  bool has_barriers_ = false;
  std::unique_ptr<Groups> groups_;  ///< the members by hosts, if that is of use
  std::unique_ptr<TeamTree> tree_;  ///< AQUEDUCT_COLL_TREE, or what Team::use_tree has given
  TunedChooser chooser_;
  std::unique_ptr<Learning> learning_;
  std::optional<ScratchLayout> layout_;  ///< of the scratch; empty: the team has none
};

}  // namespace aqueduct::coll
