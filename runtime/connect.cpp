#include "runtime/connect.hpp"

#include "core/signals.hpp"
#include "runtime/crowding.hpp"
#include "runtime/layers.hpp"
#include "runtime/pace.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace aqueduct::runtime {

using aqueduct::detail::EndpointState;

namespace {

Status connect_to(core::Conduit& conduit, Rank me, const Reached& others, core::Log& log) {
  const core::Properties& mine = conduit.properties();
  for (Rank rank = 0; rank < others.addresses.size(); ++rank) {
    if (others.addresses[rank].empty() || others.max_packets[rank] == mine.max_packet) continue;
    log.error(
        "conduit {}: packets of rank {} have at most {} bytes, and those of rank {} {}: give all ranks the "
        "same "
        "settings, above all those of the conduit (mpirun passes AQUEDUCT_NAME on with -x AQUEDUCT_NAME)",
        mine.name, me, mine.max_packet, rank, others.max_packets[rank]);
    return {ErrorCode::bad_setting, rank};
  }
  return conduit.connect(others.addresses);
}

/// Chooses who does all atomics without a domain in this job. If any memory is mapped, processors do, because they
/// reach mapped words without the network. Otherwise the network does, if it can do all of them. Each AtomicDomain
/// chooses for itself.
void set_atomics(EndpointState& state, core::AtomicSet of_all) {
  state.network_atomics = of_all;
  state.atomics_by_processor =
      state.near != nullptr || !state.network_atomics.holds(core::AtomicSet::whole());
}

/// What the one conduit that serves all ranks of the job offers for them, if there is one and its offers are the same on all
/// of them. From what all know: each rank decides alone, and all alike.
std::uint64_t collectives_of_all(const EndpointState& state, const GatheredData& gathered) {
  const auto alike = [](const std::vector<std::uint64_t>& offers) {
    return std::ranges::adjacent_find(offers, std::ranges::not_equal_to()) == offers.end() ? offers.front()
                                                                                           : 0;
  };
  if (std::ranges::none_of(gathered.has_near, std::identity())) return alike(gathered.far_collectives);
  const std::set<std::uint32_t> hosts(state.host_of.begin(), state.host_of.end());
  if (hosts.size() == state.ranks) return alike(gathered.far_collectives);  // one rank on each
  const bool near_serves_all = hosts.size() == 1 && std::ranges::all_of(gathered.has_near, std::identity());
  return near_serves_all ? alike(gathered.near_collectives) : 0;
}

/// Tells the conduits where this rank's counters are, should they add to them by themselves.
void let_conduits_count(const EndpointState& state) noexcept {
  const auto counters = core::my_hidden_layout(state).slots() * sizeof(std::uint64_t);
  for (core::Conduit* conduit : {state.near.get(), state.far.get()}) {
    core::NativeSignal* const signal = conduit != nullptr ? conduit->signal() : nullptr;
    if (signal != nullptr)
      static_cast<void>(signal->count_in(state.segments[core::kSignalSegment].mine.first(counters)));
  }
}

}  // namespace

Status connect_endpoint(Job::Impl& job, EndpointParts& parts, const GatheredData& gathered,
                        std::span<const LocalPart> mine) {
  EndpointState& state = parts.state;
  if (state.near != nullptr) {
    if (const Status status = connect_to(*state.near, state.rank, gathered.near, job.log); !status)
      return status;
  }
  if (state.far != nullptr) {
    if (const Status status = connect_to(*state.far, state.rank, gathered.far, job.log); !status)
      return status;
  }
  set_atomics(state, gathered.far.atomics);
  state.network_words = gathered.far.words;
  state.least_transfer = gathered.least_transfer;
  state.through_sockets = gathered.through_sockets;
  state.tuning = gathered.tuning;
  const std::vector<std::size_t> processors = processors_of_hosts(state, gathered);
  state.crowded = crowded_ranks(state, processors);
  state.near_serves_host =
      std::ranges::all_of(state.neighbours, [&](Rank rank) { return gathered.has_near[rank]; });
  state.collectives_of_all = collectives_of_all(state, gathered);
  for (const Rank rank : state.neighbours) state.cpus_of.push_back(gathered.cpus[rank]);
  for (SegmentId id = 0; id < kOwnSegments; ++id) {
    KnownParts known{.parts = std::vector<core::SegmentPart>(state.ranks)};
    for (Rank rank = 0; rank < state.ranks; ++rank) {
      BlobReader in(gathered.parts[id][rank]);
      known.parts[rank] = read_part(state, rank, in);
    }
    add_segment(state, mine[id], std::move(known));
  }
  let_conduits_count(state);
  set_pace(state, processors[state.host_of[state.rank]]);
  return build_layers(state);
}

}  // namespace aqueduct::runtime
