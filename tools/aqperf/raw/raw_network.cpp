#include "tools/aqperf/raw/raw_network.hpp"

#include "tools/aqperf/raw/raw_plugin.hpp"

#ifdef AQUEDUCT_WITH_IBV
#include "tools/aqperf/raw/raw_ibv.hpp"
#endif
#ifdef AQUEDUCT_WITH_OFI
#include "tools/aqperf/raw/raw_ofi.hpp"
#endif
#ifdef AQUEDUCT_WITH_UCX
#include "tools/aqperf/raw/raw_ucx.hpp"
#endif

#include <algorithm>
#include <string>

namespace aqueduct::perf {
namespace {

/// Chosen: the least number of transfers that are measured together.
constexpr std::uint64_t kTransfers = 256;

}  // namespace

std::uint64_t turns_at_once(const NetworkTurn& turn) {
  if (turn.kind == NetworkTurn::Kind::answer) return 1;
  return std::max<std::uint64_t>(1, kTransfers / turn.window);
}

std::optional<Raw> raw_network(Session& session, Role role, const NetworkTurn& turn) {
  const bool alone = role.peer == kNoRank || role.peer == session.rank();
  const std::string mine = alone ? std::string() : std::string(session.ep().conduit_of(role.peer));
#ifdef AQUEDUCT_WITH_IBV
  if (session.ranks() > 1 && session.everyone(alone ? role.peer == kNoRank : mine == "ibv")) {
    return raw_ibv(session, role, turn);
  }
#endif
  const core::RawNetworkEntry* const own = alone ? nullptr : raw_entry_of_plugin(mine);
  if (session.ranks() > 1 && session.everyone(alone ? role.peer == kNoRank : own != nullptr)) {
    return raw_plugin(session, role, turn, own);
  }
  if (turn.kind == NetworkTurn::Kind::atomic) return std::nullopt;
#ifdef AQUEDUCT_WITH_OFI
  if (session.ranks() > 1 && session.everyone(alone ? role.peer == kNoRank : mine == "ofi")) {
    return raw_ofi(session, role, turn);
  }
#endif
#ifdef AQUEDUCT_WITH_UCX
  if (session.ranks() > 1 && session.everyone(alone ? role.peer == kNoRank : mine == "ucx")) {
    return raw_ucx(session, role, turn);
  }
#endif
  return std::nullopt;
}

}  // namespace aqueduct::perf
