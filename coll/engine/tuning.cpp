// What a team's members choose by.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

namespace aqueduct::coll {

void TeamEngine::choose_tuning(bool all_alike) noexcept {
  if (all_alike) return;
  state_.log.warn(
      "a team of {} ranks: its members have different tuning tables, so the rules choose its algorithms: "
      "this is a mistake of the library, please report it",
      ranks_);
  chooser_.have_table(layer_.no_tuning());
}

}  // namespace aqueduct::coll
