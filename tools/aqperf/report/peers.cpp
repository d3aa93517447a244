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
  const Statistics counts = ep.statistics();
  out += fmt::format(
      "rank {}: transfers of pieces: {} direct, {} pieces, {} packed, {} box, {} native; {} packets, of "
      "which {} say "
      "strides, {} offsets, {} pieces\n",
      ep.rank(), counts.vis_direct, counts.vis_pieces, counts.vis_packed, counts.vis_box, counts.vis_native,
      counts.vis_messages, counts.vis_as_strides, counts.vis_as_offsets, counts.vis_as_pieces);
  return out;
}

}  // namespace aqueduct::perf
