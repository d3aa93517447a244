#include "conduits/ibv/device.hpp"

#include "conduits/ibv/gid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <sstream>

namespace aqueduct::conduits::ibv {
namespace {

class DeviceList {
 public:
  explicit DeviceList(const Verbs& verbs) : verbs_(verbs), list_(verbs.get_device_list(&count_)) {}
  ~DeviceList() {
    if (list_ != nullptr) verbs_.free_device_list(list_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  ibv_device** begin() const { return list_; }
  ibv_device** end() const { return list_ != nullptr ? list_ + count_ : list_; }

 private:
  const Verbs& verbs_;
  int count_ = 0;
  ibv_device** list_;
};

/// In Gb/s: the number of lanes times the speed of each.
double speed_of(const ibv_port_attr& port) {
  const double ways = port.active_width == 2    ? 4
                      : port.active_width == 4  ? 8
                      : port.active_width == 8  ? 12
                      : port.active_width == 16 ? 2
                                                : 1;
  switch (port.active_speed) {
    case 1: return ways * 2.5;
    case 2: return ways * 5;
    case 4:
    case 8: return ways * 10;
    case 16: return ways * 14;
    case 32: return ways * 25;
    case 64: return ways * 50;
    case 128: return ways * 100;
    default: return ways;
  }
}

constexpr int bytes_of(ibv_mtu mtu) { return 128 << static_cast<int>(mtu); }

/// Why a device cannot be used at all; empty: its ports decide.
std::string unfit(const Verbs& verbs, const ibv_device& device, const ibv_device_attr& limits) {
  const bool iwarp = device.transport_type == IBV_TRANSPORT_IWARP;
  if (iwarp && !verbs.connections.loaded()) {
    return "is iWARP, whose connections librdmacm makes, which is not installed here (on Debian: apt-get "
           "install "
           "librdmacm1)";
  }
  if (!iwarp && device.transport_type != IBV_TRANSPORT_IB) return "is no InfiniBand, RoCE or iWARP device";
  return limits.max_qp == 0 ? "has no queue pairs" : "";
}

/// The positions of a device ("mlx5_0"), or of one of its ports ("mlx5_0:1"), in the list of wanted ones.
class Wishes {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  explicit Wishes(const std::string& list) {
    std::istringstream stream(list);
    for (std::string one; std::getline(stream, one, ',');) all_.push_back(one);
  }
  bool want_some_of(const std::string& device) const {
    return all_.empty() || std::ranges::any_of(all_, [&](const std::string& one) {
             return one == device || one.substr(0, one.rfind(':')) == device;
           });
  }
  /// The wanted names that fit none of these devices ("a; b; c").
  std::string none_of(const std::string& names) const {
    std::string missing;
    for (const std::string& one : all_) {
      std::istringstream stream(names);
      bool found = false;
      for (std::string name; std::getline(stream >> std::ws, name, ';');) {
        found = found || one == name || one.substr(0, one.rfind(':')) == name;
      }
      if (!found) note(missing, one);
    }
    return missing;
  }
  std::size_t place_of(const std::string& device, const std::string& port) const {
    if (all_.empty()) return 0;
    const auto found =
        std::ranges::find_if(all_, [&](const std::string& one) { return one == device || one == port; });
    return found != all_.end() ? static_cast<std::size_t>(found - all_.begin()) : kNone;
  }

 private:
  std::vector<std::string> all_;
};

/// Why a port cannot be used. Empty: it can, and `port` is filled in.
std::string look_at(const Verbs& verbs, ibv_context& context, const Wish& wish, const std::string& label,
                    Port& port) {
  port.attributes = {};
  // The exported function fills the older part of the structure.
  auto* const old = reinterpret_cast<_compat_ibv_port_attr*>(&port.attributes);
  if (verbs.query_port(&context, port.number, old) != 0) return label + " does not tell its state";
  if (port.attributes.state != IBV_PORT_ACTIVE) return label + "'s link is down";
  if (port.iwarp()) {  // its addresses are the IP addresses of its network interface
    port.gid_text = "iWARP";
    return {};
  }
  return choose_gid(verbs, context, wish.gid, port);
}

}  // namespace

double Port::speed() const noexcept { return speed_of(attributes); }

std::string Port::kind() const {
  return fmt::format("{} of {:g} Gb/s, device {:x}:{:x}", name_of(network()), speed(), limits.vendor_id,
                     limits.vendor_part_id);
}

std::string Port::text() const {
  return fmt::format("{}:{}, {}, {:g} Gb/s, MTU {}", device, number, gid_text, speed_of(attributes),
                     bytes_of(attributes.active_mtu));
}

Owned<ibv_context> open_by_name(const Verbs& verbs, const std::string& name) {
  for (ibv_device* device : DeviceList(verbs)) {
    if (name == verbs.get_device_name(device)) return {verbs.open_device(device), {verbs.close_device}};
  }
  errno = ENODEV;
  return {nullptr, {verbs.close_device}};
}

UsablePorts usable_ports(const Verbs& verbs, const Wish& wish) {
  UsablePorts usable;
  const Wishes wishes(wish.device);
  std::multimap<std::size_t, Port> by_place;
  const auto pass_over = [&](const std::string& text) { note(usable.passed_over, text); };
  for (ibv_device* device : DeviceList(verbs)) {
    const std::string name = verbs.get_device_name(device);
    note(usable.names, name);
    if (!wishes.want_some_of(name)) continue;
    const Owned<ibv_context> context(verbs.open_device(device), {verbs.close_device});
    Port port;
    port.device = name;
    port.transport = device->transport_type;
    if (context == nullptr || verbs.query_device(context.get(), &port.limits) != 0) {
      pass_over(fmt::format("{} cannot be opened: {}", name, std::strerror(errno)));
      continue;
    }
    if (const std::string why = unfit(verbs, *device, port.limits); !why.empty()) {
      pass_over(fmt::format("{} {}", name, why));
      continue;
    }
    port.paging = paging_of(verbs, *context);
    for (int number = 1; number <= port.limits.phys_port_cnt; ++number) {
      const std::string label = fmt::format("{}:{}", name, number);
      const std::size_t place = wishes.place_of(name, label);
      if (place == Wishes::kNone) continue;
      port.number = static_cast<std::uint8_t>(number);
      if (const std::string why = look_at(verbs, *context, wish, label, port); why.empty()) {
        by_place.emplace(place, port);
      } else {
        pass_over(why);
      }
    }
  }
  for (auto& [place, port] : by_place) usable.ports.push_back(std::move(port));
  if (const std::string missing = wishes.none_of(usable.names); !usable.ports.empty() && !missing.empty()) {
    pass_over(missing + " of AQUEDUCT_IBV_DEVICE is not here");
  }
  return usable;
}

}  // namespace aqueduct::conduits::ibv
