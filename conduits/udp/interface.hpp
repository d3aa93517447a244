#pragma once

#include <aqueduct/status.hpp>

#include "conduits/udp/address.hpp"
#include "core/log.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::conduits::udp {

/// One address of one network interface of this host.
struct InterfaceInfo {
  std::string name;  ///< "eth0"
  Address address;   ///< port 0
  int prefix = 0;    ///< bits of the subnet: 24 in 192.0.2.2/24
  bool up = false;   ///< switched on, with a cable in
  bool loopback = false;
  int mtu = 0;  ///< bytes, IP header included; 0 if unknown
};

/// What this host has, in the system's order. Empty if the system does not tell.
std::vector<InterfaceInfo> list_interfaces();

/// "eth0 192.0.2.2/24, lo 127.0.0.1/8, eth1 10.0.0.1/8 (down)": for people.
std::string describe(std::span<const InterfaceInfo> interfaces);

enum class Family : std::uint8_t { automatic, ipv4, ipv6 };

/// What the user asks for.
struct InterfaceWish {
  /// AQUEDUCT_UDP_INTERFACE: an interface ("eth0"), an address ("10.1.2.3"), a subnet ("10.1.0.0/16",
  /// "fd00::/8"); empty: automatic.
  std::string text{};
  Family family = Family::automatic;  ///< AQUEDUCT_UDP_FAMILY; automatic takes IPv4 where there is a choice
  bool one_host = false;              ///< the whole job runs here: automatic takes the loopback interface
};

struct InterfaceChoice {
  InterfaceInfo interface;
  std::string why;  ///< for people: "the only network interface that is up"
};

/// Chooses what to bind to. Automatic, with several hosts, is the only interface that could be meant: up, not
/// loopback, with an address beyond link-local. Bridges and cables of virtual machines (docker*, br-*,
/// virbr*, veth*) count only where there is nothing else.
///
/// Errors: bad_setting (nothing matches the wish, or several do, or it cannot be read), network_failed (there
///         is nothing to choose from); the log lists what there is and says what to set.
Result<InterfaceChoice> choose_interface(const InterfaceWish& wish, std::span<const InterfaceInfo> interfaces,
                                         core::Log& log);

}  // namespace aqueduct::conduits::udp
