#include "sim/simulate.hpp"

#include "coll/algorithms/symmetric.hpp"
#include "coll/model/symmetric.hpp"
#include "sim/free_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace aqueduct::sim {

namespace {

// So that no schedule computes a place or a length above 64 bits.
constexpr std::uint64_t kMostBytesOfRank = std::uint64_t{1} << 56;

std::vector<coll::ReplayedCall> calls_of(const Job& job, Rank ranks) {
  coll::ReplayedCall call{job.algorithm, job.shape};
  call.shape.ranks = ranks;
  if (ranks == job.shape.ranks) call.blocks = job.blocks;
  return std::vector<coll::ReplayedCall>(job.times, call);
}

std::uint64_t limit_of(const Job& job) { return job.most_memory != 0 ? job.most_memory : free_memory(); }

/// Of a replay with an event for each message.
void check_memory(const Job& job, const Network& network) {
  const std::uint64_t links =
      network.topology ? network.topology->links() * SharedLinks::kBytesOfLink / job.shape.ranks : 0;
  check_ranks(job.shape.ranks, limit_of(job), [&](Rank ranks) {
    return coll::replay_memory(calls_of(job, ranks)) +
           ranks * (links + (network.topology ? SharedLinks::kBytesOfRank : 0));
  });
}

/// Of a replay in which all members are alike: their results and, if they call at different times, the times of each.
void check_memory_of_alike(const Job& job) {
  const std::uint64_t times =
      job.calls.empty() ? 0 : 8 + coll::Schedule::needs(*job.algorithm, job.shape).counters;
  check_ranks(job.shape.ranks, limit_of(job), [&](Rank ranks) {
    return ranks * (sizeof(coll::ReplayedMember) + times * sizeof(coll::Picoseconds));
  });
}

}  // namespace

const char* word_of(Method method) noexcept {
  switch (method) {
    case Method::one_for_all: return "one-for-all";
    case Method::by_rounds: return "by-rounds";
    case Method::events: return "events";
  }
  return "?";
}

Outcome simulate(const Job& job, const Network& network) {
  if (const char* const why = coll::Schedule::refusal(*job.algorithm, job.shape); why != nullptr)
    throw BadInput(fmt::format("{} cannot do this: {}", job.algorithm->name, why));
  if (job.shape.bytes > kMostBytesOfRank / job.shape.ranks)
    throw BadInput(fmt::format("{} ranks with blocks of {} bytes: {}", job.shape.ranks, job.shape.bytes,
                               coll::kTooMuch));
  Outcome out;
  const auto begin = std::chrono::steady_clock::now();
  // Where several hosts have several ranks, what goes between them is counted message by message.
  const coll::Machine& machine = network.machine;
  const bool counts_hosts = machine.host > 1 && machine.hosts(job.shape.ranks) > 1;
  const bool plain = !network.topology && !counts_hosts && job.detours.period == 0 &&
                     job.watcher == nullptr && job.times == 1 && job.blocks.empty();
  if (plain && !job.one_by_one && coll::is_symmetric(*job.algorithm)) {
    check_memory_of_alike(job);
    if (std::optional<coll::Replayed> replayed =
            coll::replay_symmetric(*job.algorithm, job.shape, machine, job.calls);
        replayed) {
      out.replayed = std::move(*replayed);
      if (!out.replayed.problem.empty()) throw BadInput(out.replayed.problem);
      out.method = job.calls.empty() ? Method::one_for_all : Method::by_rounds;
    }
  }
  if (out.replayed.members.empty()) {
    check_memory(job, network);
    const coll::Cost cost = coll::Schedule::cost(*job.algorithm, job.shape);
    const std::uint64_t messages = cost.messages * job.times;
    // Of long messages each packet is an event.
    const bool in_packets = network.topology && network.packet != 0;
    const std::uint64_t packets = in_packets ? cost.bytes / network.packet * job.times : 0;
    if (job.most_messages != 0 && (messages > job.most_messages || packets > job.most_messages)) {
      throw BadInput(fmt::format(
          "{} sends {} {}, and each would be an event; {} are allowed (--most-messages)", job.algorithm->name,
          std::max(messages, packets), packets > messages ? "packets" : "messages", job.most_messages));
    }
    std::optional<SharedLinks> links;
    if (network.topology)
      links.emplace(*network.topology, network.places, network.of_hosts, network.of_switches, job.seed);
    coll::ReplayOptions options;
    options.calls = job.calls;
    options.in_flight = job.in_flight;
    options.compute = job.compute;
    options.detours = job.detours;
    options.links = links ? &*links : nullptr;
    options.packet = network.packet;
    options.watcher = job.watcher;
    out.replayed = coll::replay(calls_of(job, job.shape.ranks), machine, options);
    if (!out.replayed.problem.empty()) throw BadInput(out.replayed.problem);
    if (links) {
      out.link_bytes = links->bytes();
      out.hops = links->hops();
    }
  }
  out.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

std::vector<coll::Picoseconds> late_calls(Rank ranks, coll::Picoseconds most, std::uint64_t seed) {
  std::vector<coll::Picoseconds> calls(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) calls[rank] = most == 0 ? 0 : by_chance(seed, rank) % (most + 1);
  return calls;
}

}  // namespace aqueduct::sim
