#include "tools/aqperf/raw/raw_ucx.hpp"

#include "tools/aqperf/raw/bare_ucx.hpp"

#include <memory>

namespace aqueduct::perf {

Raw raw_ucx(Session& session, Role role, const NetworkTurn& turn) {
  const auto bare = std::make_shared<BareUcx>(session, role, turn);
  if (!bare->usable()) return {std::nullopt, "none: UCX does not open a second worker here"};
  const char* const call = turn.kind == NetworkTurn::Kind::put   ? "ucp_put_nbx, then ucp_ep_flush_nbx"
                           : turn.kind == NetworkTurn::Kind::get ? "ucp_get_nbx"
                                                                 : "ucp_am_send_nbx there and back";
  const std::uint64_t at_once = turns_at_once(turn);
  return {Subject{[bare, at_once](std::uint64_t turns) { bare->run(turns * at_once); }, role.active,
                  static_cast<double>(turn.window * at_once)},
          std::string("bare UCP: ") + call};
}

}  // namespace aqueduct::perf
