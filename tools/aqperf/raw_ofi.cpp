#include "tools/aqperf/raw_ofi.hpp"

#include "tools/aqperf/bare_ofi.hpp"

#include <algorithm>
#include <memory>

namespace aqueduct::perf {
namespace {

/// Chosen: in one turn at least; that message is then less than 1 % of it.
constexpr std::uint64_t kTransfers = 256;

}  // namespace

Raw raw_ofi(Session& session, Role role, const NetworkTurn& turn) {
  const auto bare = std::make_shared<BareOfi>(session, role, turn);
  if (!bare->usable()) return {std::nullopt, "none: libfabric does not open a second endpoint here"};
  const char* const call = turn.kind == NetworkTurn::Kind::put   ? "fi_writemsg, delivery complete"
                           : turn.kind == NetworkTurn::Kind::get ? "fi_read"
                                                                 : "fi_inject or fi_send, there and back";
  // A run of transfers ends with a message to the passive side: made small beside what is measured.
  const bool transfers = turn.kind != NetworkTurn::Kind::answer;
  const std::uint64_t at_once = transfers ? std::max<std::uint64_t>(1, kTransfers / turn.window) : 1;
  return {Subject{[bare, at_once](std::uint64_t turns) { bare->run(turns * at_once); }, role.active,
                  static_cast<double>(turn.window * at_once)},
          std::string("bare libfabric (") + bare->provider() + "): " + call};
}

}  // namespace aqueduct::perf
