#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace aqueduct::conduits::udp {

/// An IPv4 or IPv6 address with a port.
struct Address {
  sockaddr_storage raw{};
  socklen_t bytes = 0;

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&raw); }
  sa_family_t family() const noexcept { return raw.ss_family; }  ///< AF_INET, AF_INET6, or AF_UNSPEC: empty
  std::uint16_t port() const noexcept;
  std::uint32_t scope() const noexcept;  ///< interface number of a link-local IPv6 address; else 0
  /// The 4 or 16 bytes of the address, in network byte order.
  std::span<const std::byte> host() const noexcept;
  bool loopback() const noexcept;    ///< 127.0.0.0/8 or ::1
  bool link_local() const noexcept;  ///< 169.254.0.0/16 or fe80::/10

  Address with_port(std::uint16_t port) const noexcept;
  std::string host_text() const;  ///< "127.0.0.1", "::1", "fe80::1%2"
  std::string text() const;       ///< "127.0.0.1:4711", "[::1]:4711"
  bool operator==(const Address& other) const noexcept;

  /// Parses what `text` and `host_text` write. The port is 0 if the text has none. The scope may be an interface
  /// name ("fe80::1%eth0").
  static std::optional<Address> parse(std::string_view text);
  /// From the 4 or 16 bytes of an address, in network byte order.
  static std::optional<Address> from_host(std::span<const std::byte> host, std::uint16_t port = 0,
                                          std::uint32_t scope = 0) noexcept;
  /// Serialized, as peers exchange it: family (4 or 6), port, address, and for IPv6 the scope. Port and scope are
  /// little-endian. 7 or 23 bytes.
  std::vector<std::byte> to_bytes() const;
  static std::optional<Address> from_bytes(std::span<const std::byte> form) noexcept;
};

}  // namespace aqueduct::conduits::udp
