#pragma once

#include "coll/model/loggp.hpp"
#include "coll/tune/chooser.hpp"

#include <optional>

namespace aqueduct::aqsim {

/// The team of all ranks of a simulation, as the engine of a real team describes it to what chooses (TeamEngine): which
/// members share a host, and whether one has more ranks than processors. Its members reach each other by messages, since a
/// simulation has no other way.
class SimulatedTeam {
 public:
  SimulatedTeam(const coll::Machine& machine, Rank ranks);
  SimulatedTeam(const SimulatedTeam&) = delete;
  SimulatedTeam& operator=(const SimulatedTeam&) = delete;

  /// Lifetime: `groups` is of this object, and so are those of shapes that are chosen by it.
  const coll::TeamTraits& traits() const noexcept { return traits_; }

 private:
  std::optional<coll::Groups> groups_;  ///< the members by hosts, if that is of use
  coll::TeamTraits traits_;
};

}  // namespace aqueduct::aqsim
