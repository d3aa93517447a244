#include "sim/topology.hpp"

#include <stdexcept>

namespace aqueduct::sim {

namespace {

std::uint64_t hosts_of(const FatTree& shape) {
  if (shape.ports < 2 || shape.ports % 2 != 0)
    throw std::invalid_argument("a fat tree needs switches with an even number of ports");
  if (shape.tiers < 1 || shape.tiers > 28) throw std::invalid_argument("a fat tree has 1 to 28 tiers");
  std::uint64_t hosts = 2;
  for (std::uint32_t i = 0; i < shape.tiers; ++i) {
    hosts *= shape.ports / 2;
    if (hosts > (1U << 28)) throw std::invalid_argument("a fat tree of so many ports and tiers is too large");
  }
  return hosts;
}

/// Links of tier t: for each of its groups as many upwards as it has hosts, and as many downwards.
class Tree final : public Topology {
 public:
  explicit Tree(const FatTree& shape)
      : Topology(static_cast<Host>(hosts_of(shape)), hosts_of(shape) * 2 * (shape.tiers - 1)),
        shape_(shape) {}

  std::uint32_t hops(Host from, Host to) const override { return from == to ? 0 : 2 * top(from, to) + 1; }
  std::string name() const override {
    return "fat tree of " + std::to_string(shape_.ports) + "-port switches, " + std::to_string(shape_.tiers) +
           " tiers, " + std::to_string(hosts()) + " hosts";
  }

 private:
  std::uint32_t half() const noexcept { return shape_.ports / 2; }
  /// The tier at which the way turns.
  std::uint32_t top(Host from, Host to) const noexcept {
    std::uint32_t tier = 0;
    for (std::uint64_t size = half(); tier + 1 < shape_.tiers && from / size != to / size; size *= half())
      ++tier;
    return tier;
  }
  /// Output `output` of the group of `host` at a tier.
  Link output_of(Host host, std::uint32_t tier, std::uint64_t size, std::uint64_t output,
                 bool down) const noexcept {
    const std::uint64_t first = host / size * size;
    return static_cast<Link>(2 * hosts() + (std::uint64_t{tier} * 2 + (down ? 1 : 0)) * hosts() + first +
                             output);
  }

  void between(Host from, Host to, std::uint64_t chance, Route& route) const override {
    const std::uint32_t turns = top(from, to);
    std::uint64_t size = half();  // hosts of a group
    std::uint64_t output = 0;
    std::uint64_t digits = shape_.by_chance ? by_chance(chance, to) : to;
    for (std::uint32_t tier = 0; tier < turns; ++tier, size *= half()) {
      output = output * half() + digits % half();
      digits /= half();
      route.add(output_of(from, tier, size, output, false));
    }
    for (std::uint32_t tier = turns; tier-- > 0;) {
      size /= half();
      route.add(output_of(to, tier, size, output, true));
      output /= half();
    }
  }

  FatTree shape_;
};

}  // namespace

std::unique_ptr<Topology> make_fat_tree(const FatTree& shape) { return std::make_unique<Tree>(shape); }

}  // namespace aqueduct::sim
