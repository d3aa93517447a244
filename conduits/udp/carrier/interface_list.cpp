#include "conduits/udp/carrier/interface.hpp"
#include "conduits/udp/carrier/socket_setup.hpp"
#include "core/descriptors.hpp"

#include <ifaddrs.h>

#include <bit>
#include <cstring>
#include <memory>

#include <net/if.h>
#include <sys/ioctl.h>

namespace aqueduct::conduits::udp {
namespace {

Address address_of(const sockaddr* raw) noexcept {
  Address address;
  if (raw == nullptr || (raw->sa_family != AF_INET && raw->sa_family != AF_INET6)) return address;
  address.bytes = raw->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::memcpy(&address.raw, raw, address.bytes);
  return address;
}

int count_bits(std::span<const std::byte> mask) noexcept {
  int bits = 0;
  for (const std::byte byte : mask) bits += std::popcount(std::to_integer<unsigned>(byte));
  return bits;
}

int mtu_of(int socket, const char* name) noexcept {
  ifreq request{};
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  return ::ioctl(socket, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : 0;
}

}  // namespace

std::vector<InterfaceInfo> list_interfaces() {
  std::vector<InterfaceInfo> found;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return found;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(first, ::freeifaddrs);
  Descriptor socket(core::above_standard(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  if (socket.get() < 0)
    socket = Descriptor(core::above_standard(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    const Address address = address_of(at->ifa_addr);
    if (address.host().empty()) continue;
    constexpr unsigned kUp = IFF_UP | IFF_RUNNING;
    found.push_back({.name = at->ifa_name,
                     .address = address,
                     .prefix = count_bits(address_of(at->ifa_netmask).host()),
                     .up = (at->ifa_flags & kUp) == kUp,
                     .loopback = (at->ifa_flags & IFF_LOOPBACK) != 0,
                     .mtu = mtu_of(socket.get(), at->ifa_name)});
  }
  return found;
}

std::string describe(std::span<const InterfaceInfo> interfaces) {
  std::string text;
  for (const InterfaceInfo& one : interfaces) {
    if (!text.empty()) text += ", ";
    text += one.name + " " + one.address.host_text() + "/" + std::to_string(one.prefix);
    if (!one.up) text += " (down)";
  }
  return text.empty() ? "none" : text;
}

}  // namespace aqueduct::conduits::udp
