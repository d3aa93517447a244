#include "conduits/ibv/device.hpp"

#include "conduits/ibv/gid.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace aqueduct::conduits::ibv {
namespace {

constexpr const char* kNoDevice =
    "this machine has no RDMA device: no adapter, or its driver is not loaded (`ibv_devices` lists them; a "
    "container "
    "needs /dev/infiniband)";

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

/// In Gb/s, as the port says it: lanes, and the speed of each.
double speed_of(const ibv_port_attr& port) {
  const double lanes = port.active_width == 2    ? 4
                       : port.active_width == 4  ? 8
                       : port.active_width == 8  ? 12
                       : port.active_width == 16 ? 2
                                                 : 1;
  switch (port.active_speed) {
    case 1: return lanes * 2.5;
    case 2: return lanes * 5;
    case 4:
    case 8: return lanes * 10;
    case 16: return lanes * 14;
    case 32: return lanes * 25;
    case 64: return lanes * 50;
    case 128: return lanes * 100;
    default: return lanes;
  }
}

constexpr int bytes_of(ibv_mtu mtu) { return 128 << static_cast<int>(mtu); }

void note(std::string& list, const std::string& what) { list += (list.empty() ? "" : "; ") + what; }

/// Why a device is of no use, whatever its ports; empty: it may be of use.
std::string unfit(const ibv_device& device, const ibv_device_attr& limits) {
  if (device.transport_type == IBV_TRANSPORT_IWARP) {
    return "is iWARP, which has no datagrams to make connections by: use the ofi conduit with it";
  }
  if (device.transport_type != IBV_TRANSPORT_IB) return "is no InfiniBand or RoCE device";
  return limits.max_qp == 0 ? "has no queue pairs" : "";
}

}  // namespace

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

Found find_port(const Verbs& verbs, const Wish& wish) {
  Found found;
  double best = -1;
  std::string names;
  const auto pass_over = [&](const std::string& text) { note(found.passed_over, text); };
  for (ibv_device* device : DeviceList(verbs)) {
    const std::string name = verbs.get_device_name(device);
    note(names, name);
    const bool all_ports = wish.device.empty() || wish.device == name;
    if (!all_ports && wish.device.substr(0, wish.device.rfind(':')) != name) continue;
    const Owned<ibv_context> context(verbs.open_device(device), {verbs.close_device});
    Port port;
    port.device = name;
    if (context == nullptr || verbs.query_device(context.get(), &port.limits) != 0) {
      pass_over(fmt::format("{} cannot be opened: {}", name, std::strerror(errno)));
      continue;
    }
    if (const std::string why = unfit(*device, port.limits); !why.empty()) {
      pass_over(fmt::format("{} {}", name, why));
      continue;
    }
    port.paging = paging_of(verbs, *context);
    for (int number = 1; number <= port.limits.phys_port_cnt; ++number) {
      const std::string label = fmt::format("{}:{}", name, number);
      if (!all_ports && wish.device != label) continue;
      port.number = static_cast<std::uint8_t>(number);
      port.attributes = {};
      // The exported function fills the part of the structure that has always been there.
      auto* const old = reinterpret_cast<_compat_ibv_port_attr*>(&port.attributes);
      if (verbs.query_port(context.get(), port.number, old) != 0) {
        pass_over(label + " does not tell its state");
        continue;
      }
      if (port.attributes.state != IBV_PORT_ACTIVE) {
        pass_over(label + "'s link is down");
        continue;
      }
      if (const std::string why = choose_gid(verbs, *context, wish.gid, port); !why.empty()) {
        pass_over(why);
        continue;
      }
      const double speed = speed_of(port.attributes);
      if (speed <= best) {
        pass_over(port.text() + " is no faster");
        continue;
      }
      if (best >= 0) pass_over(found.port.text() + " is slower");
      best = speed;
      found.port = port;
    }
  }
  if (best >= 0) return found;
  if (names.empty()) {
    found.problem = kNoDevice;
  } else if (!found.passed_over.empty()) {
    found.problem = fmt::format("no RDMA device can be used: {}", found.passed_over);
  } else {
    found.problem = fmt::format("AQUEDUCT_IBV_DEVICE={}, but there are: {} (with a port: {}:1)", wish.device,
                                names, names.substr(0, names.find(';')));
  }
  return found;
}

}  // namespace aqueduct::conduits::ibv
