#include "conduits/udp/carrier/socket_setup.hpp"

#include "core/descriptors.hpp"

#include <cerrno>
#include <cstring>

#include <netinet/udp.h>
#include <unistd.h>

namespace aqueduct::conduits::udp {
namespace {

bool set_option(int socket, int level, int name, int value) noexcept {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

Status no_socket(const Address& address, int problem, core::Log& log) {
  const char* family = address.family() == AF_INET6 ? "IPv6" : "IPv4";
  if (problem == EMFILE || problem == ENFILE) {
    log.error("no UDP socket: {}", core::no_descriptor(problem));
  } else if (problem == EAFNOSUPPORT) {
    log.error("no UDP socket: this host does not speak {}; try AQUEDUCT_UDP_FAMILY={}", family,
              address.family() == AF_INET6 ? "ipv4" : "ipv6");
  } else {
    log.error("no UDP socket ({}): {}", family, std::strerror(problem));
  }
  return ErrorCode::network_failed;
}

Status not_bound(const Address& address, int problem, core::Log& log) {
  if (problem == EADDRINUSE && address.port() != 0) {
    log.error(
        "UDP port {} of {} is taken by another socket (ss -ulpn shows whose); name another port, or 0 for "
        "any",
        address.port(), address.host_text());
  } else if (problem == EADDRINUSE) {
    log.error("{} has no free UDP port left; sysctl net.ipv4.ip_local_port_range has the range to widen",
              address.host_text());
  } else if (problem == EADDRNOTAVAIL) {
    log.error("no interface of this host has the address {}; `ip address` lists those that there are",
              address.host_text());
  } else if (problem == EACCES) {
    log.error("this process may not take UDP port {} of {}; name one above 1023, or 0 for any",
              address.port(), address.host_text());
  } else {
    log.error("cannot bind a UDP socket to {}: {}", address.text(), std::strerror(problem));
  }
  return ErrorCode::network_failed;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Result<Descriptor> make_bound_socket(const Address& address, core::Log& log) {
  Descriptor socket(core::above_standard(
      ::socket(address.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP)));
  if (socket.get() < 0) return no_socket(address, errno, log);
  // One family per socket: an IPv6 socket that also served IPv4 would block its port for an IPv4 socket.
  if (address.family() == AF_INET6) set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (::bind(socket.get(), address.get(), address.bytes) != 0) return not_bound(address, errno, log);
  return socket;
}

Address local_address(int socket) noexcept {
  Address address;
  address.bytes = sizeof address.raw;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address.raw), &address.bytes) != 0) return {};
  return address;
}

int set_buffer(int socket, SocketBuffer buffer, int wanted, core::Log& log) {
  const bool sends = buffer == SocketBuffer::send;
  const int name = sends ? SO_SNDBUF : SO_RCVBUF;
  if (wanted > 0 && !set_option(socket, SOL_SOCKET, sends ? SO_SNDBUFFORCE : SO_RCVBUFFORCE, wanted)) {
    set_option(socket, SOL_SOCKET, name, wanted);
  }
  int had = 0;
  socklen_t bytes = sizeof had;
  ::getsockopt(socket, SOL_SOCKET, name, &had, &bytes);
  // The system counts twice what it is asked for, in an int: of 1 GiB a byte is missing.
  if (had / 2 < wanted - 1) {
    const char* limit = sends ? "net.core.wmem_max" : "net.core.rmem_max";
    log.warn(
        "the UDP {} buffer is {} bytes, not the {} wanted, because the system's limit {} is {}: it works, "
        "slower; "
        "raise it (sysctl -w {}={})",
        sends ? "send" : "receive", had / 2, wanted, limit, had / 2, limit, wanted);
  }
  return had;
}

bool set_dont_fragment(int socket, sa_family_t family, bool on) noexcept {
  if (family == AF_INET6) {
    return set_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, on ? IPV6_PMTUDISC_PROBE : IPV6_PMTUDISC_DONT);
  }
  return set_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, on ? IP_PMTUDISC_PROBE : IP_PMTUDISC_DONT);
}

// A segment size of 0: no segmentation unless a call asks for it.
bool can_segment(int socket) noexcept { return set_option(socket, SOL_UDP, UDP_SEGMENT, 0); }

bool set_coalescing(int socket) noexcept { return set_option(socket, SOL_UDP, UDP_GRO, 1); }

bool set_overflow_report(int socket) noexcept { return set_option(socket, SOL_SOCKET, SO_RXQ_OVFL, 1); }

}  // namespace aqueduct::conduits::udp
