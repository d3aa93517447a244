#include "tools/aqperf/raw/raw_ofi.hpp"

#include "tools/aqperf/raw/bare_ofi.hpp"

#include <memory>

namespace aqueduct::perf {

Raw raw_ofi(Session& session, Role role, const NetworkTurn& turn) {
  const auto bare = std::make_shared<BareOfi>(session, role, turn);
  if (!bare->usable()) return {std::nullopt, "none: libfabric does not open a second endpoint here"};
  const char* const call = turn.kind == NetworkTurn::Kind::put   ? "fi_writemsg, delivery complete"
                           : turn.kind == NetworkTurn::Kind::get ? "fi_read"
                                                                 : "fi_inject or fi_send, there and back";
  const std::uint64_t at_once = turns_at_once(turn);
  return {Subject{[bare, at_once](std::uint64_t turns) { bare->run(turns * at_once); }, role.active,
                  static_cast<double>(turn.window * at_once)},
          std::string("bare libfabric (") + bare->provider() + "): " + call};
}

}  // namespace aqueduct::perf
