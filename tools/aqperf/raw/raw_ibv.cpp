#include "tools/aqperf/raw/raw_ibv.hpp"

#include "tools/aqperf/raw/bare_ibv.hpp"

#include <algorithm>
#include <memory>

namespace aqueduct::perf {
namespace {

/// Chosen: the least number of transfers in one turn. The message that ends the turn is then less than 1 % of it.
constexpr std::uint64_t kTransfers = 256;

}  // namespace

Raw raw_ibv(Session& session, Role role, const NetworkTurn& turn) {
  const auto bare = std::make_shared<BareIbv>(session, role, turn);
  if (!bare->usable()) return {std::nullopt, "none: the device does not give a second queue pair here"};
  const char* const call = turn.kind == NetworkTurn::Kind::put      ? "RDMA writes, one doorbell for a window"
                           : turn.kind == NetworkTurn::Kind::get    ? "RDMA reads, one doorbell for a window"
                           : turn.kind == NetworkTurn::Kind::atomic ? "fetch-and-adds"
                                                                    : "a send there and one back";
  const bool transfers = turn.kind != NetworkTurn::Kind::answer;
  const std::uint64_t at_once = transfers ? std::max<std::uint64_t>(1, kTransfers / turn.window) : 1;
  return {Subject{[bare, at_once](std::uint64_t turns) { bare->run(turns * at_once); }, role.active,
                  static_cast<double>(turn.window * at_once)},
          std::string("bare verbs (") + bare->device() + "): " + call};
}

}  // namespace aqueduct::perf
