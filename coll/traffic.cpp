// What collectives in shared memory have moved: include/aqueduct/coll_traffic.hpp.

#include <aqueduct/coll_traffic.hpp>

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "core/entry.hpp"
#include "topology/host_topology.hpp"

#include <new>

namespace aqueduct {

Result<CollTraffic> coll_traffic(Team& handle, std::size_t level) noexcept try {
  detail::TeamState& team = handle.state();
  // The layers' data is gone with the endpoint, which then is gone too.
  if (coll::barrier_of(team) == nullptr) return ErrorCode::closed;
  detail::EndpointState& state = team.endpoint;
  const core::Entry entry(state);
  if (state.in_child()) return ErrorCode::invalid_argument;
  auto& topology = *state.layer<topology::HostTopology>();
  if (level >= topology.table().levels().size()) return ErrorCode::out_of_range;
  CollTraffic out;
  const coll::TeamEngine* const engine = coll::Collectives::engine_of(team);
  const coll::MappedBoards* const boards = engine != nullptr ? engine->mapped_boards() : nullptr;
  if (boards == nullptr) return out;
  const auto mine = topology.domain_of(state.rank, level);
  for (Rank i = 0; i < team.size(); ++i) {
    const bool inside = topology.domain_of(team.members[i], level) == mine;
    (inside ? out.read_inside : out.read_across) += boards->read_from(i);
    (inside ? out.written_inside : out.written_across) += boards->written_to(i);
  }
  out.staged = boards->staged();
  out.touched = boards->touched();
  out.copied = boards->copied();
  out.waits = boards->waits();
  return out;
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

}  // namespace aqueduct
