#include "tools/aqperf/raw_ofi.hpp"

#include "tools/aqperf/bare_ofi.hpp"

#include <memory>

namespace aqueduct::perf {

Raw raw_ofi(Session& session, Role role, const NetworkTurn& turn) {
  const auto bare = std::make_shared<BareOfi>(session, role, turn);
  if (!bare->usable()) return {std::nullopt, "none: libfabric does not open a second endpoint here"};
  const char* const call = turn.kind == NetworkTurn::Kind::put   ? "fi_writemsg, delivery complete"
                           : turn.kind == NetworkTurn::Kind::get ? "fi_read"
                                                                 : "fi_inject or fi_send, there and back";
  return {Subject{[bare](std::uint64_t turns) { bare->run(turns); }, role.active,
                  static_cast<double>(turn.window)},
          std::string("bare libfabric (") + bare->provider() + "): " + call};
}

}  // namespace aqueduct::perf
