#include "conduits/udp/carrier/address.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>
#include <net/if.h>

namespace aqueduct::conduits::udp {
namespace {

constexpr std::size_t kHost4 = 4, kHost6 = 16;
constexpr std::size_t kBytes4 = 1 + 2 + kHost4;
constexpr std::size_t kBytes6 = 1 + 2 + kHost6 + 4;

const sockaddr_in& as4(const Address& address) noexcept {
  return reinterpret_cast<const sockaddr_in&>(address.raw);
}

const sockaddr_in6& as6(const Address& address) noexcept {
  return reinterpret_cast<const sockaddr_in6&>(address.raw);
}

template <class Number>
std::optional<Number> read_number(std::string_view text) noexcept {
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Address> parse6(std::string_view host, std::uint16_t port) {
  std::uint32_t scope = 0;
  if (const auto percent = host.find('%'); percent != std::string_view::npos) {
    const std::string name(host.substr(percent + 1));
    scope = ::if_nametoindex(name.c_str());
    if (scope == 0) scope = read_number<std::uint32_t>(name).value_or(0);
    if (scope == 0) return std::nullopt;
    host = host.substr(0, percent);
  }
  std::array<std::byte, kHost6> bytes{};
  if (::inet_pton(AF_INET6, std::string(host).c_str(), bytes.data()) != 1) return std::nullopt;
  return Address::from_host(bytes, port, scope);
}

std::optional<Address> parse4(std::string_view host, std::uint16_t port) {
  std::array<std::byte, kHost4> bytes{};
  if (::inet_pton(AF_INET, std::string(host).c_str(), bytes.data()) != 1) return std::nullopt;
  return Address::from_host(bytes, port);
}

}  // namespace

std::uint16_t Address::port() const noexcept {
  if (family() == AF_INET) return ntohs(as4(*this).sin_port);
  return family() == AF_INET6 ? ntohs(as6(*this).sin6_port) : std::uint16_t{0};
}

std::uint32_t Address::scope() const noexcept { return family() == AF_INET6 ? as6(*this).sin6_scope_id : 0; }

std::span<const std::byte> Address::host() const noexcept {
  if (family() == AF_INET) return {reinterpret_cast<const std::byte*>(&as4(*this).sin_addr), kHost4};
  if (family() == AF_INET6) return {reinterpret_cast<const std::byte*>(&as6(*this).sin6_addr), kHost6};
  return {};
}

bool Address::loopback() const noexcept {
  if (family() == AF_INET) return host()[0] == std::byte{127};
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&as6(*this).sin6_addr);
}

bool Address::link_local() const noexcept {
  if (family() == AF_INET) return host()[0] == std::byte{169} && host()[1] == std::byte{254};
  return family() == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as6(*this).sin6_addr);
}

Address Address::with_port(std::uint16_t port) const noexcept {
  Address other = *this;
  if (family() == AF_INET) reinterpret_cast<sockaddr_in&>(other.raw).sin_port = htons(port);
  if (family() == AF_INET6) reinterpret_cast<sockaddr_in6&>(other.raw).sin6_port = htons(port);
  return other;
}

std::string Address::host_text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (host().empty() || ::inet_ntop(family(), host().data(), text.data(), text.size()) == nullptr) {
    return "nowhere";
  }
  std::string host = text.data();
  if (scope() != 0) host += "%" + std::to_string(scope());
  return host;
}

std::string Address::text() const {
  const std::string host = family() == AF_INET6 ? "[" + host_text() + "]" : host_text();
  return host + ":" + std::to_string(port());
}

bool Address::operator==(const Address& other) const noexcept {
  return family() == other.family() && port() == other.port() && scope() == other.scope() &&
         std::ranges::equal(host(), other.host());
}

std::optional<Address> Address::parse(std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    host = text.substr(1, close - 1);
    if (host.find(':') == std::string_view::npos) return std::nullopt;  // brackets are for IPv6
    port = text.substr(close + 1);
  } else if (std::ranges::count(text, ':') == 1) {  // with more colons it is an IPv6 address without a port
    host = text.substr(0, text.find(':'));
    port = text.substr(text.find(':'));
  }
  std::uint16_t number = 0;
  if (!port.empty()) {
    const auto value = port[0] == ':' ? read_number<std::uint16_t>(port.substr(1)) : std::nullopt;
    if (!value) return std::nullopt;
    number = *value;
  }
  return host.find(':') == std::string_view::npos ? parse4(host, number) : parse6(host, number);
}

std::optional<Address> Address::from_host(std::span<const std::byte> host, std::uint16_t port,
                                          std::uint32_t scope) noexcept {
  Address address;
  if (host.size() == kHost4 && scope == 0) {
    auto& raw = reinterpret_cast<sockaddr_in&>(address.raw);
    raw.sin_family = AF_INET;
    raw.sin_port = htons(port);
    std::memcpy(&raw.sin_addr, host.data(), host.size());
    address.bytes = sizeof raw;
    return address;
  }
  if (host.size() == kHost6) {
    auto& raw = reinterpret_cast<sockaddr_in6&>(address.raw);
    raw.sin6_family = AF_INET6;
    raw.sin6_port = htons(port);
    raw.sin6_scope_id = scope;
    std::memcpy(&raw.sin6_addr, host.data(), host.size());
    address.bytes = sizeof raw;
    return address;
  }
  return std::nullopt;
}

std::vector<std::byte> Address::to_bytes() const {
  std::vector<std::byte> form;
  if (host().empty()) return form;
  form.reserve(kBytes6);
  form.push_back(std::byte{family() == AF_INET ? std::uint8_t{4} : std::uint8_t{6}});
  form.push_back(static_cast<std::byte>(port() & 0xff));
  form.push_back(static_cast<std::byte>(port() >> 8));
  form.insert(form.end(), host().begin(), host().end());
  if (family() == AF_INET6) {
    for (int shift = 0; shift < 32; shift += 8) form.push_back(static_cast<std::byte>(scope() >> shift));
  }
  return form;
}

std::optional<Address> Address::from_bytes(std::span<const std::byte> form) noexcept {
  const bool four = form.size() == kBytes4 && form[0] == std::byte{4};
  const bool six = form.size() == kBytes6 && form[0] == std::byte{6};
  if (!four && !six) return std::nullopt;
  const auto port = static_cast<std::uint16_t>(std::to_integer<unsigned>(form[1]) |
                                               std::to_integer<unsigned>(form[2]) << 8);
  std::uint32_t scope = 0;
  for (std::size_t i = 0; six && i < 4; ++i) {
    scope |= std::to_integer<std::uint32_t>(form[3 + kHost6 + i]) << (8 * i);
  }
  return from_host(form.subspan(3, four ? kHost4 : kHost6), port, scope);
}

}  // namespace aqueduct::conduits::udp
