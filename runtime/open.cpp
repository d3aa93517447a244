#include "core/signals.hpp"
#include "runtime/job_tuning.hpp"
#include "runtime/layers.hpp"
#include "runtime/start.hpp"
#include "topology/cpu_set.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include <unistd.h>

namespace aqueduct::runtime {
namespace {

using aqueduct::detail::EndpointState;

constexpr SegmentId kOwnSegments = 2;  // the primary segment; signal counters and the memory of collectives
static_assert(core::kSignalSegment == 1);

Result<std::vector<std::string>> exchange_text(Job::Impl& job, const std::string& mine) {
  auto all = job.bootstrap->exchange(std::as_bytes(std::span(mine)));
  if (!all) return all.status();
  std::vector<std::string> texts;
  for (const Blob& blob : *all) texts.push_back(bootstrap::text_of(blob));
  return texts;
}

/// Which conduits serve the job.
Status choose_networks(Job::Impl& job) {
  const auto other_host = [&](std::uint32_t host) { return host != job.process.host.front(); };
  const bool one_host = std::ranges::none_of(job.process.host, other_host);
  const auto ask_all = [&job](const std::string& mine) { return exchange_text(job, mine); };
  auto choice = choose_conduits(job.config, {one_host, job.ranks_of.size() == 1, ask_all}, job.log);
  if (!choice) return choice.status();
  job.choice = std::move(*choice);
  if (job.choice.far != nullptr) job.log.debug("conduit {}: {}", job.choice.far->name, job.choice.why);
  return {};
}

Status make_networks(Job::Impl& job) {
  if (job.choice.near != nullptr) {
    auto network = job.choice.near->make(job.process);
    if (!network) return network.status();
    job.near_network = std::move(*network);
  }
  if (job.choice.far != nullptr) {
    auto network = job.choice.far->make(job.process);
    if (!network) return network.status();
    job.own_far_network = std::move(*network);
    job.far_network = job.own_far_network.get();
  }
  return {};
}

/// The clock that a conduit supplies, if one has a time of its own.
std::optional<core::EndpointClock> own_clock(const EndpointState& state) noexcept {
  for (const core::Conduit* conduit : {state.far.get(), state.near.get()}) {
    if (conduit == nullptr) continue;
    if (const auto clock = conduit->clock()) return clock;
  }
  return std::nullopt;
}

/// Opens the conduits of an endpoint and fills its tables of hosts and conduits. It knows no peer's address yet.
Status open_one(Job::Impl& job, EndpointParts& parts) {
  EndpointState& state = parts.state;
  const Rank me = state.rank;
  if (job.near_network != nullptr) {
    auto conduit = job.near_network->open(me);
    if (!conduit) return conduit.status();
    state.near = std::move(*conduit);
  }
  if (job.far_network != nullptr) {
    auto conduit = job.far_network->open(me);
    if (!conduit) return conduit.status();
    state.far = std::move(*conduit);
  }
  if (const auto own = own_clock(state)) {
    state.clock = *own;
    state.own_time = true;
  }
  for (Rank rank = 0; rank < state.ranks; ++rank) {
    state.host_of[rank] = job.process.host[rank];
    const bool here = state.host_of[rank] == job.process.host[me];
    if (here) state.neighbours.push_back(rank);
    const bool is_near = state.far == nullptr || (here && state.near != nullptr);
    state.conduit_of[rank] = is_near ? state.near.get() : state.far.get();
  }
  return {};
}

/// Writes what peers need in order to reach an endpoint through a conduit: the address, and max_packet, which must be
/// equal on all ranks, because a sender cuts its messages to its own limit; and what its adapter does with words, because
/// an adapter of the target stores them.
void tell_conduit(core::Conduit* conduit, core::AtomicSet atomics, BlobWriter& out) {
  out.bytes(conduit != nullptr ? conduit->address() : Blob{});
  out.number(conduit != nullptr ? conduit->properties().max_packet : 0);
  out.number(atomics.bits());
  const auto words = conduit != nullptr ? conduit->properties().whole_words : core::WholeWords::puts_and_gets;
  out.number(static_cast<std::uint64_t>(words));
}

/// The same for all ranks of the host, unlike how many of them each may use.
std::size_t processors_of_host() noexcept {
  return static_cast<std::size_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

/// Writes what ranks of all hosts must know, because members of a team choose alike by it. Conduits of two ranks may differ
/// in their longest transfer, as by the memory that they may pin.
void tell_limits(const EndpointState& state, BlobWriter& out) {
  std::uint64_t least = ~std::uint64_t{0};
  for (core::Conduit* conduit : {state.near.get(), state.far.get()}) {
    // Without native transfers the reference layer cuts them.
    if (conduit == nullptr || conduit->rma() == nullptr) continue;
    if (const std::uint64_t most = conduit->properties().max_transfer; most != 0)
      least = std::min(least, most);
  }
  out.number(least);
  const bool sockets = std::ranges::any_of(
      std::array{state.near.get(), state.far.get()},
      [](core::Conduit* conduit) { return conduit != nullptr && conduit->properties().through_sockets; });
  out.number(sockets ? 1 : 0);
  // Ranks in virtual time wait for no processor, and their times are the same on all machines.
  out.number(!state.own_time && state.neighbours.size() > processors_of_host() ? 1 : 0);
  out.number(state.near != nullptr ? 1 : 0);
  for (core::Conduit* conduit : {state.near.get(), state.far.get()}) {
    const core::NativeCollectives* const native = conduit != nullptr ? conduit->collectives() : nullptr;
    out.number(native != nullptr ? native->offer() : 0);
  }
}

/// The atomics that the far conduit can do on this rank. All ranks exchange them, since a domain uses the network on
/// all ranks or on none. Empty if the far conduit maps memory: processors could then change words without the network.
core::AtomicSet atomics_of(const EndpointState& state) {
  const bool maps = state.far == nullptr || state.far->cross_map() != nullptr;
  if (maps || state.config.text("atomics") == "processor") return {};
  const core::NativeAtomics* const network = state.far->atomics();
  return network != nullptr ? network->operations() : core::AtomicSet{};
}

/// Writes what other ranks need in order to reach one endpoint:
/// `to_near` for ranks of this host, `to_far` for the others.
Status describe_one(Job::Impl& job, EndpointParts& parts, std::vector<LocalPart>& mine, BlobWriter& to_near,
                    BlobWriter& to_far) {
  EndpointState& state = parts.state;
  // If the network does atomics, neighbours too reach each other through the far conduit.
  const core::AtomicSet atomics = atomics_of(state);
  tell_conduit(state.near.get(), {}, to_near);
  tell_conduit(atomics.empty() ? nullptr : state.far.get(), atomics, to_near);
  tell_conduit(nullptr, {}, to_far);
  tell_conduit(state.far.get(), atomics, to_far);
  tell_limits(state, to_near);
  tell_limits(state, to_far);
  const std::size_t sizes[kOwnSegments] = {
      static_cast<std::size_t>(job.config.number("segment_bytes")),
      core::HiddenLayout::bytes(static_cast<std::uint64_t>(job.config.number("signals")), state.hidden)};
  const std::string cpus = topology::text_of(topology::cpus_of_this_thread());
  to_near.bytes(std::as_bytes(std::span(cpus)));
  to_far.bytes({});  // only ranks of this host place each other
  for (SegmentId id = 0; id < kOwnSegments; ++id) {
    const auto part = allocate_part(parts, sizes[id]);
    if (!part) return part.status();
    const auto offer = offer_part(parts, id, *part);
    if (!offer) return offer.status();
    mine.push_back(*part);
    offer->write(to_near, /*near=*/true, /*far=*/!atomics.empty());
    offer->write(to_far, /*near=*/state.near == nullptr, /*far=*/true);
  }
  return {};
}

/// Opens and describes an endpoint. The other processes wait for the description, so a lack of memory is returned
/// rather than thrown, and is sent to them.
Status open_and_describe(Job::Impl& job, Rank rank, std::vector<LocalPart>& mine, BlobWriter& to_near,
                         BlobWriter& to_far) try {
  auto& parts =
      *job.endpoints.emplace_back(std::make_unique<EndpointParts>(rank, job.process.ranks, job.config));
  parts.state.clock = job.process.clock;
  if (const Status status = open_one(job, parts); !status) return status;
  return describe_one(job, parts, mine, to_near, to_far);
} catch (const std::bad_alloc&) {
  job.log.error(
      "rank {}: there is no memory for its endpoint: lower what its settings ask for (aqinfo lists them)",
      rank);
  return ErrorCode::no_memory;
}

/// For each process, whether it is on this host. This decides which part of the exchange it gets. All processes must
/// agree on that, also those on which something has failed, so it depends only on the hosts.
std::vector<bool> on_this_host(const Job::Impl& job) {
  const auto host_of = [&](std::size_t process) { return job.process.host[job.ranks_of[process].front()]; };
  std::vector<bool> here(job.ranks_of.size());
  for (std::size_t process = 0; process < here.size(); ++process) {
    here[process] = host_of(process) == host_of(job.bootstrap->process());
  }
  return here;
}

/// Whether an arrival ends a sleep of this endpoint, from whichever conduit it comes.
bool arrivals_wake(const EndpointState& state) {
  return std::ranges::all_of(std::array{state.near.get(), state.far.get()}, [](core::Conduit* conduit) {
    return conduit == nullptr || conduit->waitable() != nullptr;
  });
}

/// Sets how long waits spin at first. With more ranks than cores spinning only delays the others.
void set_pace(EndpointState& state) {
  if (state.own_time) {
    // Spins and yields take no time of a clock that is not the system's. So waits sleep at once, which takes its time.
    state.pacing.spins = state.pacing.fewest = 0;
    state.pacing.yield_at_most = std::chrono::nanoseconds(0);
    return;
  }
  state.pacing.arrivals_wake = arrivals_wake(state);
  const auto cores = static_cast<std::size_t>(core::available_cores());
  if (state.neighbours.size() > cores) state.pacing.spins = core::Pacing::kFewestSpins;
  // A rank that is bound to a core sees only that core, though the host has more.
  const std::size_t of_host = processors_of_host();
  state.pacing.share_core((state.neighbours.size() + of_host - 1) / of_host);
  if (state.neighbours.size() <= of_host) {
    state.pacing.fewest = core::Pacing::kFewestWithCores;
    state.pacing.spins = std::max(state.pacing.spins, state.pacing.fewest);
  } else if (state.far != nullptr) {
    // A rank with a processor of its own keeps it for as long as an answer takes.
    state.pacing.look = core::Pacing::kNetworkLook;
  }
}

/// What the ranks have written about their endpoints on one conduit, by rank.
struct Reached {
  std::vector<Blob> addresses;
  std::vector<std::uint64_t> max_packets;
  core::AtomicSet atomics = core::AtomicSet::whole();        ///< the atomics that it does on every rank
  core::WholeWords words = core::WholeWords::puts_and_gets;  ///< the least of all ranks

  void read(BlobReader& in) {
    addresses.push_back(in.bytes());
    max_packets.push_back(in.number());
    atomics &= core::AtomicSet(in.number());
    words = std::min(words, static_cast<core::WholeWords>(in.number()));
  }
};

/// What the last exchange has gathered: what all ranks have written, by rank.
struct GatheredData {
  Reached near;
  Reached far;
  std::uint64_t least_transfer = ~std::uint64_t{0};          ///< of all ranks
  bool through_sockets = false;                              ///< of any rank
  std::vector<bool> crowded;                                 ///< [rank] its host
  std::vector<bool> has_near;                                ///< [rank]
  std::vector<std::uint64_t> near_collectives;               ///< [rank]
  std::vector<std::uint64_t> far_collectives;                ///< [rank]
  std::shared_ptr<const std::vector<std::uint64_t>> tuning;  ///< what rank 0 says
  std::vector<std::string> cpus;                             ///< [rank]; empty for those of other hosts
  std::vector<Blob> parts[kOwnSegments];  // not decoded yet: each endpoint reads them for itself
};

Status read_gathered(Job::Impl& job, const std::vector<Blob>& all, GatheredData& gathered) {
  for (std::uint32_t process = 0; process < all.size(); ++process) {
    BlobReader in(all[process]);
    const auto code = static_cast<ErrorCode>(in.number());
    if (code != ErrorCode::ok) {
      job.log.error("process {} could not start: {}", process, Status(code).text());
      return {code, job.ranks_of[process].front()};
    }
    std::vector<std::uint64_t> tuning;
    for (std::uint64_t left = in.number(); left != 0 && in.ok(); --left) tuning.push_back(in.number());
    if (process == 0) gathered.tuning = std::make_shared<const std::vector<std::uint64_t>>(std::move(tuning));
    for (std::size_t i = 0; i < job.ranks_of[process].size(); ++i) {
      gathered.near.read(in);
      gathered.far.read(in);
      gathered.least_transfer = std::min(gathered.least_transfer, in.number());
      gathered.through_sockets |= in.number() != 0;
      gathered.crowded.push_back(in.number() != 0);
      gathered.has_near.push_back(in.number() != 0);
      gathered.near_collectives.push_back(in.number());
      gathered.far_collectives.push_back(in.number());
      gathered.cpus.push_back(bootstrap::text_of(in.bytes()));
      for (auto& parts : gathered.parts) {
        BlobWriter copy;
        for (int number = 0; number < 2; ++number) copy.number(in.number());
        for (int key = 0; key < 3; ++key) copy.bytes(in.bytes());
        parts.push_back(copy.blob());
      }
    }
    if (!in.ok()) return ErrorCode::bootstrap_failed;
  }
  return {};
}

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

Status connect_one(Job::Impl& job, EndpointParts& parts, const GatheredData& gathered,
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
  state.crowded = gathered.crowded;
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
  set_pace(state);
  return build_layers(state);
}

/// What this process tells all others about tuning: the one with rank 0 alone does.
Status tuning_to_tell(Job::Impl& job, std::vector<std::uint64_t>& tuning) try {
  if (job.bootstrap->process() == 0) tuning = job_tuning(job.endpoints.front()->state);
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

}  // namespace

Status open_endpoints(Job::Impl& job, core::Network* far) {
  std::vector<std::vector<LocalPart>> mine(job.process.mine.size());
  BlobWriter to_near, to_far;
  job.far_network = far;
  Status status;
  if (far == nullptr) status = choose_networks(job);
  if (status) status = make_networks(job);
  for (std::size_t i = 0; i < job.process.mine.size() && status; ++i) {
    status = open_and_describe(job, job.process.mine[i], mine[i], to_near, to_far);
  }
  std::vector<std::uint64_t> tuning;
  if (status) status = tuning_to_tell(job, tuning);
  const auto with_status = [&](const BlobWriter& body) {
    BlobWriter out;
    out.number(static_cast<std::uint64_t>(status.code()));
    out.number(tuning.size());
    for (const std::uint64_t word : tuning) out.number(word);
    Blob blob = out.blob();
    blob.insert(blob.end(), body.blob().begin(), body.blob().end());
    return blob;
  };
  // Without a near conduit the far one serves all ranks.
  const Blob neighbours = with_status(job.near_network != nullptr ? to_near : to_far);
  const Blob others = with_status(to_far);
  auto all = job.bootstrap->exchange_parts({neighbours, others}, on_this_host(job));
  if (!status) return status;
  if (!all) return all.status();
  GatheredData gathered;
  if (status = read_gathered(job, *all, gathered); !status) return status;
  for (std::size_t i = 0; i < job.endpoints.size(); ++i) {
    if (status = connect_one(job, *job.endpoints[i], gathered, mine[i]); !status) return status;
  }
  return {};
}

}  // namespace aqueduct::runtime
