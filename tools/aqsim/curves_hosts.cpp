// How much of a broadcast crosses the network, by how many ranks share a host.

#include "sim/network.hpp"
#include "tools/aqsim/curves.hpp"
#include "tools/aqsim/run.hpp"
#include "tools/aqsim/team.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace aqueduct::aqsim {

namespace {

/// Messages between hosts of a broadcast by the algorithm among 1024 ranks, `each` on a host.
std::uint64_t network_messages(Rank each, const std::string& algorithm) {
  constexpr Rank kRanks = 1024;
  Options options;
  options.operation = "broadcast";
  options.algorithm = algorithm;
  options.ranks_per_host = each;
  const sim::Network network = sim::load_network("two-level", kRanks, hosts_for(options, kRanks));
  const SimulatedTeam team(network.machine, kRanks);
  coll::Shape shape;
  shape.operation = coll::Operation::broadcast;
  shape.in = shape.out = coll::Sync::none;
  shape.ranks = kRanks;
  shape.bytes = shape.pitch = 8;
  const Chosen chosen = choose(options, shape, team.traits()).front();
  sim::Job job;
  job.algorithm = chosen.algorithm;
  job.shape = chosen.shape;
  const coll::Replayed replayed = sim::simulate(job, network).replayed;
  return each == 1 ? replayed.messages : replayed.messages_between_hosts;
}

}  // namespace

std::vector<Finding> host_curves() {
  const std::string ours = fmt::format("{}, {}, {}", network_messages(1, "k-nomial"),
                                       network_messages(4, "hosts"), network_messages(16, "hosts"));
  return {{"R-04", "broadcast, 1024 ranks: messages over the network with 1, 4 and 16 ranks on a host",
           "1023, 255, 63", ours, ours == "1023, 255, 63", ""}};
}

}  // namespace aqueduct::aqsim
