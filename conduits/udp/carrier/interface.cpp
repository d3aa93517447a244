#include "conduits/udp/carrier/interface.hpp"

#include "conduits/udp/carrier/path_mtu.hpp"
#include "core/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>

namespace aqueduct::conduits::udp {
namespace {

constexpr const char* kSet = "AQUEDUCT_UDP_INTERFACE";

using Infos = std::vector<InterfaceInfo>;

Infos filter(std::span<const InterfaceInfo> from, const std::function<bool(const InterfaceInfo&)>& keep) {
  Infos kept;
  std::ranges::copy_if(from, std::back_inserter(kept), keep);
  return kept;
}

const char* words(Family family) noexcept {
  return family == Family::ipv4 ? "IPv4 " : family == Family::ipv6 ? "IPv6 " : "";
}

bool of_family(const InterfaceInfo& info, Family family) noexcept {
  if (family == Family::automatic) return true;
  return info.address.family() == (family == Family::ipv4 ? AF_INET : AF_INET6);
}

bool made_for_guests(const InterfaceInfo& info) noexcept {
  constexpr std::array<std::string_view, 4> kPrefixes{"docker", "br-", "virbr", "veth"};
  return std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return info.name.starts_with(prefix); });
}

bool one_interface(const Infos& infos) noexcept {
  return std::ranges::all_of(infos, [&](const InterfaceInfo& info) { return info.name == infos[0].name; });
}

// The best of one interface's addresses: the first of the best kind.
const InterfaceInfo& best_address(const Infos& infos) noexcept {
  return *std::ranges::min_element(infos, {}, [](const InterfaceInfo& info) {
    return (info.address.link_local() ? 2 : 0) + (info.address.family() == AF_INET ? 0 : 1);
  });
}

struct Subnet {
  Address address;
  std::size_t bits;

  bool holds(const Address& other) const noexcept {
    if (other.family() != address.family()) return false;
    for (std::size_t bit = 0; bit < bits; ++bit) {
      const auto mask = static_cast<std::byte>(0x80 >> bit % 8);
      if (((address.host()[bit / 8] ^ other.host()[bit / 8]) & mask) != std::byte{0}) return false;
    }
    return true;
  }
};

std::optional<Subnet> read_subnet(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = Address::parse(text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  std::size_t bits = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (!address || address->port() != 0 || digits.empty() || problem != std::errc{} ||
      end != digits.data() + digits.size() || bits > 8 * address->host().size()) {
    return std::nullopt;
  }
  return Subnet{*address, bits};
}

// All interfaces that the text names, usable or not.
std::optional<Infos> named(std::string_view text, std::span<const InterfaceInfo> interfaces) {
  if (text.find('/') != std::string_view::npos) {
    const auto subnet = read_subnet(text);
    if (!subnet) return std::nullopt;
    return filter(interfaces, [&](const InterfaceInfo& info) { return subnet->holds(info.address); });
  }
  if (const auto address = Address::parse(text)) {
    return filter(interfaces, [&](const InterfaceInfo& info) {
      return std::ranges::equal(info.address.host(), address->host()) &&
             (address->scope() == 0 || address->scope() == info.address.scope());
    });
  }
  return filter(interfaces, [&](const InterfaceInfo& info) { return info.name == text; });
}

Result<InterfaceChoice> choose_named(const InterfaceWish& wish, std::span<const InterfaceInfo> interfaces,
                                     core::Log& log) {
  const std::string shown = core::quoted(wish.text);
  const auto matches = named(wish.text, interfaces);
  if (!matches) {
    log.error(
        "{} is \"{}\", which is no subnet: write an address and a number of bits, as in 10.1.0.0/16 or "
        "fd00::/8",
        kSet, shown);
    return ErrorCode::bad_setting;
  }
  if (matches->empty()) {
    log.error("{} is \"{}\", and nothing on this host matches it; there is: {}", kSet, shown,
              describe(interfaces));
    return ErrorCode::bad_setting;
  }
  const Infos usable =
      filter(*matches, [&](const InterfaceInfo& info) { return info.up && of_family(info, wish.family); });
  if (usable.empty()) {
    log.error("{} is \"{}\", which has no {}address that is up; it has: {}; this host has: {}", kSet, shown,
              words(wish.family), describe(*matches), describe(interfaces));
    return ErrorCode::bad_setting;
  }
  if (!one_interface(usable)) {
    log.error("{} is \"{}\", which several interfaces match: {}; name one of them", kSet, shown,
              describe(usable));
    return ErrorCode::bad_setting;
  }
  const InterfaceInfo& best = best_address(usable);
  if (best.loopback && !wish.one_host) {
    log.warn("{} is \"{}\": the loopback interface reaches no other host, but this job has several", kSet,
             shown);
  }
  return InterfaceChoice{best, std::string("named by ") + kSet};
}

Result<InterfaceChoice> choose_loopback(const InterfaceWish& wish, std::span<const InterfaceInfo> interfaces,
                                        core::Log& log) {
  const Infos loopback = filter(interfaces, [&](const InterfaceInfo& info) {
    return info.up && info.loopback && of_family(info, wish.family);
  });
  if (loopback.empty()) {
    log.error(
        "all ranks are on this host, and no loopback interface with an {}address is up; there is: {}; switch "
        "it on "
        "(ip link set lo up), or set {}",
        words(wish.family), describe(interfaces), kSet);
    return ErrorCode::network_failed;
  }
  return InterfaceChoice{best_address(loopback), "all ranks are on this host"};
}

Result<InterfaceChoice> choose_far(const InterfaceWish& wish, std::span<const InterfaceInfo> interfaces,
                                   core::Log& log) {
  const Infos usable = filter(interfaces, [&](const InterfaceInfo& info) {
    return info.up && !info.loopback && !info.address.link_local() && of_family(info, wish.family);
  });
  if (usable.empty()) {
    log.error(
        "no network interface with an {}address beyond loopback and link-local is up; there is: {}; bring "
        "one up, or "
        "name one with {}",
        words(wish.family), describe(interfaces), kSet);
    return ErrorCode::network_failed;
  }
  const Infos real = filter(usable, [](const InterfaceInfo& info) { return !made_for_guests(info); });
  const Infos& likely = real.empty() ? usable : real;
  if (!one_interface(likely)) {
    log.error(
        "several network interfaces could be meant: {}; set {} to a name, or to a subnet that all hosts "
        "share",
        describe(likely), kSet);
    return ErrorCode::bad_setting;
  }
  const bool passed_over = likely.size() != usable.size();
  return InterfaceChoice{best_address(likely),
                         passed_over ? "the only network interface that is up and not for guests"
                                     : "the only network interface that is up"};
}

Result<InterfaceChoice> choose(const InterfaceWish& wish, std::span<const InterfaceInfo> interfaces,
                               core::Log& log) {
  if (!wish.text.empty()) return choose_named(wish, interfaces, log);
  return wish.one_host ? choose_loopback(wish, interfaces, log) : choose_far(wish, interfaces, log);
}

// Bytes of IP and UDP headers.
constexpr int kHeaders4 = 20 + 8;
constexpr int kHeaders6 = 40 + 8;

}  // namespace

std::size_t payload_of(const InterfaceInfo& interface) noexcept {
  const int headers = interface.address.family() == AF_INET6 ? kHeaders6 : kHeaders4;
  return interface.mtu > headers ? static_cast<std::size_t>(interface.mtu - headers) : 0;
}

std::string kind_of(const InterfaceInfo& interface) {
  if (interface.loopback) return "loopback";
  long speed = 0;  // Mb/s; some virtual interfaces tell none, or -1
  std::ifstream("/sys/class/net/" + interface.name + "/speed") >> speed;
  return (speed > 0 ? fmt::format("{} Mb/s, ", speed) : std::string()) + fmt::format("MTU {}", interface.mtu);
}

Result<InterfaceChoice> choose_interface(const InterfaceWish& wish, std::span<const InterfaceInfo> interfaces,
                                         core::Log& log) {
  auto choice = choose(wish, interfaces, log);
  if (!choice) return choice;
  const std::size_t payload = payload_of(choice->interface);
  if (payload != 0 && payload < kBaseMtu)
    log.warn(
        "udp: interface {} has an MTU of {} bytes, so packets begin with {} bytes and not with {}: raise it "
        "if the network carries more (ip link set {} mtu)",
        choice->interface.name, choice->interface.mtu, payload / 8 * 8, kBaseMtu, choice->interface.name);
  return choice;
}

}  // namespace aqueduct::conduits::udp
