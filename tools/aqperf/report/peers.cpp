#include "tools/aqperf/report/peers.hpp"

#include "core/endpoint_state.hpp"

#include <fmt/core.h>

namespace aqueduct::perf {

std::string describe_peers(Endpoint& ep) {
  std::string out;
  for (Rank peer = 0; peer < ep.ranks(); ++peer) {
    if (peer == ep.rank()) continue;
    const std::string state = ep.state().conduit(peer).state_of(peer);
    out += fmt::format("rank {} to {} over {}: {}\n", ep.rank(), peer, ep.conduit_of(peer),
                       state.empty() ? "nothing is known" : state);
  }
  out += fmt::format("rank {} counted", ep.rank());
  const char* separator = ": ";
  for (const StatisticsRow& row : ep.statistics_rows()) {
    if (*row.counter == 0) continue;
    out += fmt::format("{}{} {} {}", separator, row.name, *row.counter, row.unit);
    separator = ", ";
  }
  out += "\n";
  return out;
}

}  // namespace aqueduct::perf
