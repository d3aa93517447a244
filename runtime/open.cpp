#include "core/signals.hpp"
#include "runtime/layers.hpp"
#include "runtime/start.hpp"

#include <algorithm>

#include <unistd.h>

namespace aqueduct::runtime {
namespace {

using aqueduct::detail::EndpointState;

constexpr SegmentId kOwnSegments = 2;  // the primary one, and the signal counters
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

/// Conduits and tables of one endpoint, before it knows anybody's address.
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
  for (Rank rank = 0; rank < state.ranks; ++rank) {
    state.host_of[rank] = job.process.host[rank];
    const bool here = state.host_of[rank] == job.process.host[me];
    if (here) state.neighbours.push_back(rank);
    const bool is_near = state.far == nullptr || (here && state.near != nullptr);
    state.conduit_of[rank] = is_near ? state.near.get() : state.far.get();
  }
  return {};
}

/// How peers reach an endpoint through a conduit, and the longest packet that it takes: messages are cut to the sender's own
/// limit, so that all must have the same one.
void tell_conduit(core::Conduit* conduit, core::AtomicSet atomics, BlobWriter& out) {
  out.bytes(conduit != nullptr ? conduit->address() : Blob{});
  out.number(conduit != nullptr ? conduit->properties().max_packet : 0);
  out.number(atomics.bits());
}

/// What the far conduit does here of atomics. All must know, for they go one way. One that maps memory gives processors a way
/// past it.
core::AtomicSet atomics_of(const EndpointState& state) {
  const bool maps = state.far == nullptr || state.far->cross_map() != nullptr;
  if (maps || state.config.text("atomics") == "processor") return {};
  return core::AtomicSet::of(state.far->atomics());
}

/// What this process tells of one endpoint: to those that its near conduit serves, and to the others.
Status describe_one(Job::Impl& job, EndpointParts& parts, std::vector<LocalPart>& mine, BlobWriter& to_near,
                    BlobWriter& to_far) {
  EndpointState& state = parts.state;
  // Neighbours too reach each other by the network, for atomics that it does.
  const core::AtomicSet atomics = atomics_of(state);
  tell_conduit(state.near.get(), {}, to_near);
  tell_conduit(atomics.empty() ? nullptr : state.far.get(), atomics, to_near);
  tell_conduit(nullptr, {}, to_far);
  tell_conduit(state.far.get(), atomics, to_far);
  const std::size_t sizes[kOwnSegments] = {
      static_cast<std::size_t>(job.config.number("segment_bytes")),
      static_cast<std::size_t>(job.config.number("signals")) * sizeof(std::uint64_t)};
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

/// The others wait for what this process has to say, so that a lack of memory has to be said too.
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

/// By process: whether it is on this host. All have to agree on who gets which part, also those that could make nothing
/// here, so that hangs on nothing else.
std::vector<bool> on_this_host(const Job::Impl& job) {
  const auto host_of = [&](std::size_t process) { return job.process.host[job.ranks_of[process].front()]; };
  std::vector<bool> here(job.ranks_of.size());
  for (std::size_t process = 0; process < here.size(); ++process) {
    here[process] = host_of(process) == host_of(job.bootstrap->process());
  }
  return here;
}

/// How many threads of this host's ranks can run at once; with fewer than ranks, spinning only delays.
void set_pace(EndpointState& state) {
  const auto cores = static_cast<std::size_t>(core::available_cores());
  if (state.neighbours.size() > cores) state.pacing.spins = core::Pacing::kFewestSpins;
  // Ranks that are bound each see their own core only; the host has more.
  const auto of_host = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  if (state.neighbours.size() <= of_host) {
    state.pacing.fewest = core::Pacing::kFewestWithCores;
    state.pacing.spins = std::max(state.pacing.spins, state.pacing.fewest);
  }
}

/// What the others told of their endpoints on one conduit, by rank.
struct Reached {
  std::vector<Blob> addresses;
  std::vector<std::uint64_t> max_packets;
  core::AtomicSet atomics = core::AtomicSet::whole();  ///< what all of them do

  void read(BlobReader& in) {
    addresses.push_back(in.bytes());
    max_packets.push_back(in.number());
    atomics &= core::AtomicSet(in.number());
  }
};

/// What the others told, by rank.
struct Told {
  Reached near;
  Reached far;
  std::vector<Blob> parts[kOwnSegments];  // still to be read, by an endpoint
};

Status read_told(Job::Impl& job, const std::vector<Blob>& all, Told& told) {
  for (std::uint32_t process = 0; process < all.size(); ++process) {
    BlobReader in(all[process]);
    const auto code = static_cast<ErrorCode>(in.number());
    if (code != ErrorCode::ok) {
      job.log.error("process {} could not start: {}", process, Status(code).text());
      return {code, job.ranks_of[process].front()};
    }
    for (std::size_t i = 0; i < job.ranks_of[process].size(); ++i) {
      told.near.read(in);
      told.far.read(in);
      for (auto& parts : told.parts) {
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

/// The free atomics of a job go one way. By processors wherever memory is mapped, for both must then agree; else by the
/// network if it can do all of them. Domains go either way.
void set_atomics(EndpointState& state, core::AtomicSet of_all) {
  state.network_atomics = of_all;
  state.atomics_by_processor =
      state.near != nullptr || !state.network_atomics.holds(core::AtomicSet::whole());
}

Status connect_one(Job::Impl& job, EndpointParts& parts, const Told& told, std::span<const LocalPart> mine) {
  EndpointState& state = parts.state;
  if (state.near != nullptr) {
    if (const Status status = connect_to(*state.near, state.rank, told.near, job.log); !status) return status;
  }
  if (state.far != nullptr) {
    if (const Status status = connect_to(*state.far, state.rank, told.far, job.log); !status) return status;
  }
  set_atomics(state, told.far.atomics);
  for (SegmentId id = 0; id < kOwnSegments; ++id) {
    KnownParts known{.parts = std::vector<core::Part>(state.ranks)};
    for (Rank rank = 0; rank < state.ranks; ++rank) {
      BlobReader in(told.parts[id][rank]);
      known.parts[rank] = read_part(state, rank, in);
    }
    add_segment(state, mine[id], std::move(known));
  }
  set_pace(state);
  return build_layers(parts);
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
  const auto with_status = [&](const BlobWriter& body) {
    BlobWriter out;
    out.number(static_cast<std::uint64_t>(status.code()));
    Blob blob = out.blob();
    blob.insert(blob.end(), body.blob().begin(), body.blob().end());
    return blob;
  };
  // Without a near conduit the far one serves neighbours as it does others.
  const Blob neighbours = with_status(job.near_network != nullptr ? to_near : to_far);
  const Blob others = with_status(to_far);
  auto all = job.bootstrap->exchange_parts({neighbours, others}, on_this_host(job));
  if (!status) return status;
  if (!all) return all.status();
  Told told;
  if (status = read_told(job, *all, told); !status) return status;
  for (std::size_t i = 0; i < job.endpoints.size(); ++i) {
    if (status = connect_one(job, *job.endpoints[i], told, mine[i]); !status) return status;
  }
  return {};
}

}  // namespace aqueduct::runtime
