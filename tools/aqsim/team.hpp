#pragma once

#include "coll/model/loggp.hpp"
#include "coll/schedule/tree_recipe.hpp"
#include "coll/tune/chooser.hpp"

#include <optional>

namespace aqueduct::aqsim {

/// The team of all ranks of a simulation, as the engine of a real team describes it to what chooses (TeamEngine): which
/// members share a host, and whether one has more ranks than processors. Its members reach each other by messages, since a
/// simulation has no other way.
class SimulatedTeam {
 public:
  /// `tree`: of the algorithms team-tree, if there is one for so many ranks.
  SimulatedTeam(const coll::Machine& machine, Rank ranks,
                const std::optional<coll::TreeRecipe>& tree = std::nullopt);
  SimulatedTeam(const SimulatedTeam&) = delete;
  SimulatedTeam& operator=(const SimulatedTeam&) = delete;

  /// Lifetime: `groups` and `tree` are of this object, and so are those of shapes that are chosen by it.
  const coll::TeamTraits& traits() const noexcept { return traits_; }

 private:
  std::optional<coll::Groups> groups_;  ///< the members by hosts, if that is of use
  std::optional<coll::TeamTree> tree_;
  coll::TeamTraits traits_;
};

}  // namespace aqueduct::aqsim
