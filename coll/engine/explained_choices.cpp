// What programs are told about a team's choices.

#include "coll/engine/team_choices.hpp"

#include <fmt/format.h>

#include <string>

namespace aqueduct::coll {

std::string TeamChoices::explain(const Shape& shape, std::uint32_t narrow) const {
  if (shape.operation == Collective::barrier) return explain_barrier();
  if (ranks_ == 1) return "a team of one rank: a copy";
  if (!layout_) return "the team has no scratch: no collective operation can run";
  if (shape.operation >= Collective::permute) return explain_blocks(shape);
  const OnBoard runs = on_board(narrow);
  TeamTraits traits = traits_for(shape);
  traits.on_board = &runs;
  return chooser_.explain(shape, traits, *layout_) + explain_memory(shape, traits) + explain_packed(shape) +
         explain_network();
}

/// What carries the team's messages: measurements of another network do not count.
std::string TeamChoices::explain_network() const {
  const core::Properties& conduit = farthest_conduit();
  if (conduit.network.empty()) return {};
  return fmt::format("  members are reached by {}, over {}\n", conduit.name, conduit.network);
}

std::string TeamChoices::explain_barrier() const {
  const std::string heading = fmt::format("barrier, {} members\n", ranks_);
  if (ranks_ == 1) return heading + "  nothing to wait for\n";
  if (!has_barriers()) return heading + "  messages: dissemination, as the team has no scratch\n";
  return chooser_.explain_barrier(traits_of_barriers(), *layout_);
}

}  // namespace aqueduct::coll
