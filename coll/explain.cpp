// Which algorithm a collective call would use.

#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "core/entry.hpp"

#include <fmt/format.h>

namespace aqueduct {

std::string Team::explain(Collective operation, std::uint64_t bytes, std::uint32_t element,
                          const CollOptions& options) {
  detail::TeamState& team = *state_;
  if (coll::barrier_of(team) == nullptr) return "the team has ended\n";
  const core::Entry entry(team.endpoint);
  if (team.endpoint.in_child()) return "a forked child has no teams\n";
  if (operation >= Collective::permute)
    return fmt::format("there is no such operation: {}\n", static_cast<unsigned>(operation));
  if (element == 0 || bytes % element != 0)
    return fmt::format("a block of {} bytes does not consist of elements of {} bytes\n", bytes, element);
  coll::Shape shape;
  shape.operation = operation;
  shape.in = options.in;
  shape.out = options.out;
  shape.order = coll::reduces(operation) ? options.order : coll::Order::any;
  shape.ranks = team.size();
  shape.element = element;
  shape.bytes = operation == Collective::barrier ? 0 : bytes;
  shape.pitch = shape.bytes;
  return team.endpoint.layer<coll::Collectives>()->explain(team, shape);
}

}  // namespace aqueduct
