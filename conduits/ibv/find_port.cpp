// The choice among the usable ports.

#include "conduits/ibv/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace aqueduct::conduits::ibv {
namespace {

constexpr const char* kNoDevice =
    "this machine has no RDMA device: no adapter, or its driver is not loaded (`ibv_devices` lists them; a "
    "container "
    "needs /dev/infiniband)";

std::string problem_of(const UsablePorts& usable, const Wish& wish) {
  if (usable.names.empty()) return kNoDevice;
  if (!usable.passed_over.empty()) return "no RDMA device can be used: " + usable.passed_over;
  return fmt::format("AQUEDUCT_IBV_DEVICE={}, but there are: {} (with a port: {}:1)", wish.device,
                     usable.names, usable.names.substr(0, usable.names.find(';')));
}

/// Why a port cannot be a rail beside the first one; empty: it can. All shares of a transfer are equal, so a slower
/// port would delay the others.
std::string unlike(const Port& port, const Port& first) {
  if (port.speed() < first.speed()) return " is slower";
  return port.network() != first.network() ? " is of another kind" : "";
}

}  // namespace

Found find_port(const Verbs& verbs, const Wish& wish) {
  Found found;
  UsablePorts usable = usable_ports(verbs, wish);
  if (usable.ports.empty()) {
    found.problem = problem_of(usable, wish);
    return found;
  }
  // iWARP comes last at any speed: it has no atomics, and a put takes an additional round trip.
  const auto worth = [](const Port& port) { return std::pair(!port.iwarp(), port.speed()); };
  const auto first = std::ranges::max_element(usable.ports, {}, worth);
  for (auto port = usable.ports.begin(); port != usable.ports.end(); ++port) {
    if (port == first) continue;
    if (const std::string why = unlike(*port, *first); !why.empty()) {
      note(usable.passed_over, port->text() + why);
    } else if (first->iwarp()) {
      note(usable.passed_over, port->text() + " is iWARP, of which one port is used");
    } else if (found.rails.size() + 1 < wish.rails) {
      found.rails.push_back(*port);
    } else {
      note(usable.passed_over, port->text() + " is no faster, and AQUEDUCT_IBV_RAILS asks for no more");
    }
  }
  found.port = *first;
  found.passed_over = std::move(usable.passed_over);
  return found;
}

}  // namespace aqueduct::conduits::ibv
