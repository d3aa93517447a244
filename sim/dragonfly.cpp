#include "sim/topology.hpp"

#include <stdexcept>

namespace aqueduct::sim {

namespace {

std::uint64_t routers_of(const Dragonfly& shape) {
  if (shape.hosts == 0 || shape.routers == 0 || shape.groups == 0)
    throw std::invalid_argument("a dragonfly has at least one host, router and group");
  if (shape.groups > 1 && shape.globals == 0)
    throw std::invalid_argument("the routers of a dragonfly with several groups need global links");
  const std::uint64_t channels = std::uint64_t{shape.routers} * shape.globals;
  if (shape.groups > channels + 1) {
    throw std::invalid_argument("a dragonfly of " + std::to_string(shape.routers) + " routers with " +
                                std::to_string(shape.globals) + " global links each has at most " +
                                std::to_string(channels + 1) + " groups");
  }
  const std::uint64_t routers = std::uint64_t{shape.routers} * shape.groups;
  if (routers * shape.hosts > (1U << 28))
    throw std::invalid_argument("a dragonfly of this shape is too large");
  return routers;
}

/// Channel k of group i goes to the group k mod (groups - 1), counted without i itself.
class Flies final : public Topology {
 public:
  explicit Flies(const Dragonfly& shape)
      : Topology(static_cast<Host>(routers_of(shape) * shape.hosts),
                 routers_of(shape) * (std::uint64_t{shape.routers} + shape.globals)),
        shape_(shape),
        routers_(routers_of(shape)) {}

  std::uint32_t hops(Host from, Host to) const override {
    if (from == to) return 0;
    Route route;
    const std::uint32_t group = group_of(router_of(from));
    const std::uint32_t target = group_of(router_of(to));
    go(router_of(from), router_of(to), group == target ? 0 : channel_to(group, target, 0), route);
    return static_cast<std::uint32_t>(route.links().size()) + 1;
  }
  std::string name() const override {
    return "dragonfly of " + std::to_string(shape_.groups) + " groups x " + std::to_string(shape_.routers) +
           " routers x " + std::to_string(shape_.hosts) + " hosts, " +
           (shape_.valiant ? "Valiant" : "minimal") + " routes";
  }

 private:
  std::uint32_t router_of(Host host) const noexcept { return host / shape_.hosts; }
  std::uint32_t group_of(std::uint32_t router) const noexcept { return router / shape_.routers; }
  /// A channel of `group` that goes to `target`; `chance` chooses if there are several.
  std::uint32_t channel_to(std::uint32_t group, std::uint32_t target, std::uint64_t chance) const noexcept {
    const std::uint32_t others = shape_.groups - 1;
    const std::uint32_t first = target < group ? target : target - 1;
    const std::uint32_t channels = shape_.routers * shape_.globals;
    const std::uint32_t several = (channels - first + others - 1) / others;
    return first + others * static_cast<std::uint32_t>(chance % several);
  }
  Link local_link(std::uint32_t from, std::uint32_t to) const noexcept {
    return static_cast<Link>(2 * std::uint64_t{hosts()} + std::uint64_t{from} * shape_.routers +
                             to % shape_.routers);
  }
  Link global_link(std::uint32_t group, std::uint32_t channel) const noexcept {
    return static_cast<Link>(2 * std::uint64_t{hosts()} + routers_ * shape_.routers +
                             std::uint64_t{group} * shape_.routers * shape_.globals + channel);
  }

  /// Appends the way between two routers over a channel of the first's group. Returns nothing else: it ends at `to`.
  void go(std::uint32_t from, std::uint32_t to, std::uint32_t channel, Route& route) const {
    const std::uint32_t group = group_of(from);
    const std::uint32_t target = group_of(to);
    if (group != target) {
      const std::uint32_t leaves = group * shape_.routers + channel / shape_.globals;
      if (leaves != from) route.add(local_link(from, leaves));
      route.add(global_link(group, channel));
      from = enters(group, target, channel);
    }
    if (from != to) route.add(local_link(from, to));
  }
  /// The router of `target` at which a channel of `group` ends: the one with the channel back, of the same number among those
  /// of the pair if there is one.
  std::uint32_t enters(std::uint32_t group, std::uint32_t target, std::uint32_t channel) const noexcept {
    return target * shape_.routers +
           channel_to(target, group, channel / (shape_.groups - 1)) / shape_.globals;
  }

  void between(Host from, Host to, std::uint64_t chance, Route& route) const override {
    std::uint32_t at = router_of(from);
    const std::uint32_t end = router_of(to);
    const std::uint32_t target = group_of(end);
    if (shape_.valiant && group_of(at) != target && shape_.groups > 2) {
      // A group that is neither.
      const std::uint32_t low = group_of(at) < target ? group_of(at) : target;
      const std::uint32_t high = group_of(at) < target ? target : group_of(at);
      auto by_way = static_cast<std::uint32_t>(by_chance(chance, 0) % (shape_.groups - 2));
      if (by_way >= low) ++by_way;
      if (by_way >= high) ++by_way;
      const std::uint32_t channel = channel_to(group_of(at), by_way, by_chance(chance, 1));
      const std::uint32_t arrives = enters(group_of(at), by_way, channel);
      go(at, arrives, channel, route);
      at = arrives;
    }
    const std::uint32_t group = group_of(at);
    go(at, end, group == target ? 0 : channel_to(group, target, by_chance(chance, 2)), route);
  }

  Dragonfly shape_;
  std::uint64_t routers_;
};

}  // namespace

std::unique_ptr<Topology> make_dragonfly(const Dragonfly& shape) { return std::make_unique<Flies>(shape); }

}  // namespace aqueduct::sim
