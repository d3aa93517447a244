#pragma once

#include "conduits/ibv/device.hpp"

namespace aqueduct::conduits::ibv {

/// Chooses the entry of a port's table of addresses (GIDs) that is used: the one asked for, or the best. Of a RoCE port
/// that is one of version 2 (routable) with an IPv4 address, which every host of a site has. What is wrong is for people;
/// empty: nothing.
std::string choose_gid(const Verbs& verbs, ibv_context& context, const std::string& wanted, Port& port);

}  // namespace aqueduct::conduits::ibv
