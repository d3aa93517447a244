#include "runtime/connect.hpp"
#include "runtime/describe.hpp"
#include "runtime/job_tuning.hpp"
#include "runtime/start.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::runtime {

using aqueduct::detail::EndpointState;

namespace {

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

/// Opens and describes an endpoint. The other processes wait for the description, so a lack of memory is returned
/// rather than thrown, and is sent to them.
Status open_and_describe(Job::Impl& job, Rank rank, std::vector<LocalPart>& mine, BlobWriter& to_near,
                         BlobWriter& to_far) try {
  auto& parts =
      *job.endpoints.emplace_back(std::make_unique<EndpointParts>(rank, job.process.ranks, job.config));
  parts.state.clock = job.process.clock;
  if (const Status status = open_one(job, parts); !status) return status;
  return describe_endpoint(job, parts, mine, to_near, to_far);
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
    if (status = connect_endpoint(job, *job.endpoints[i], gathered, mine[i]); !status) return status;
  }
  return {};
}

}  // namespace aqueduct::runtime
