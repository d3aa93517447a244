#pragma once

#include <aqueduct/status.hpp>

#include "conduits/udp/carrier/address.hpp"
#include "core/log.hpp"

#include <cstddef>
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
  bool up = false;   ///< switched on and with a carrier signal (IFF_UP, IFF_RUNNING)
  bool loopback = false;
  int mtu = 0;  ///< bytes, IP header included; 0 if unknown
};

/// The longest UDP payload that the interface carries in one packet; 0 if unknown.
std::size_t payload_of(const InterfaceInfo& interface) noexcept;

/// What an interface is, whatever its name and address: "loopback", "25000 Mb/s, MTU 9000" (core::Properties::network).
std::string kind_of(const InterfaceInfo& interface);

/// The interfaces of this host, in the system's order. Empty if the system call fails.
std::vector<InterfaceInfo> list_interfaces();

/// "eth0 192.0.2.2/24, lo 127.0.0.1/8, eth1 10.0.0.1/8 (down)": in words.
std::string describe(std::span<const InterfaceInfo> interfaces);

enum class Family : std::uint8_t { automatic, ipv4, ipv6 };

/// Which interface the user asks for.
struct InterfaceWish {
  /// AQUEDUCT_UDP_INTERFACE: an interface ("eth0"), an address ("10.1.2.3"), a subnet ("10.1.0.0/16",
  /// "fd00::/8"); empty: automatic.
  std::string text{};
  Family family = Family::automatic;  ///< AQUEDUCT_UDP_FAMILY; automatic prefers IPv4
  bool one_host = false;              ///< all ranks are on this host: automatic takes the loopback interface
};

struct InterfaceChoice {
  InterfaceInfo interface;
  std::string why;  ///< in words: "the only network interface that is up"
};

/// Chooses the interface to bind to. With several hosts, automatic takes the only candidate: an interface that is up,
/// is not loopback, and has an address that is not link-local. Bridges and virtual cables of virtual machines and
/// containers (docker*, br-*, virbr*, veth*) are candidates only if there are no others.
///
/// Errors: bad_setting (no interface matches the wish, several match, or the wish cannot be parsed), network_failed
///         (there is no candidate). The log lists the interfaces and says what to set. It also tells of a choice whose MTU
///         is below what other paths carry (kBaseMtu).
Result<InterfaceChoice> choose_interface(const InterfaceWish& wish, std::span<const InterfaceInfo> interfaces,
                                         core::Log& log);

}  // namespace aqueduct::conduits::udp
