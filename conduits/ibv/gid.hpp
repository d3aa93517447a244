#pragma once

#include "conduits/ibv/device.hpp"

namespace aqueduct::conduits::ibv {

/// Chooses an entry of the port's table of addresses (GIDs): the wanted one, or else the best. On RoCE the best one is
/// of version 2 (routable) with an IPv4 address, which every host of a site has. Returns what is wrong, for log
/// messages; empty: nothing.
std::string choose_gid(const Verbs& verbs, ibv_context& context, const std::string& wanted, Port& port);

}  // namespace aqueduct::conduits::ibv
