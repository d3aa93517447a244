#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::sim {

using Host = std::uint32_t;
using Link = std::uint32_t;

/// The links of a message from host to host, in order.
class Route {
 public:
  void clear() noexcept { count_ = 0; }
  void add(Link link) {
    if (count_ == links_.size()) links_.resize(count_ + 16);
    links_[count_++] = link;
  }
  std::span<const Link> links() const noexcept { return {links_.data(), count_}; }

 private:
  std::vector<Link> links_ = std::vector<Link>(32);
  std::size_t count_ = 0;
};

/// Which links join hosts, and the way a message takes. Links have one direction and are numbered: first the link of each
/// host into the network, then that of each host out of it, then those between switches.
class Topology {
 public:
  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  Host hosts() const noexcept { return hosts_; }
  Link links() const noexcept { return links_; }
  /// Whether a link joins a host and its switch.
  bool is_of_host(Link link) const noexcept { return link < 2 * hosts_; }
  /// The way from host to host, in `route`. `chance` decides where the topology leaves a choice: the same number, the
  /// same way. Requires: the hosts differ.
  void find(Host from, Host to, std::uint64_t chance, Route& route) const {
    route.clear();
    route.add(from);
    between(from, to, chance, route);
    route.add(hosts_ + to);
  }
  /// The number of switches that a message passes; in a torus, of links between hosts.
  virtual std::uint32_t hops(Host from, Host to) const = 0;
  virtual std::string name() const = 0;

 protected:
  Topology(Host hosts, std::uint64_t inner);

 private:
  virtual void between(Host from, Host to, std::uint64_t chance, Route& route) const = 0;

  Host hosts_;
  Link links_;
};

/// One switch that never blocks: only the hosts' own links are shared.
std::unique_ptr<Topology> make_crossbar(Host hosts);

/// A fat tree of switches with `ports` ports, `tiers` high: 2·(ports/2)^tiers hosts. A group of tier t has (ports/2)^t
/// switches and (ports/2)^(t+1) outputs; output i of group g goes to input (ports/2)·i + g of the group above it. The way
/// up is chosen by the digits of the target (D-mod-k) or by chance.
///
/// Requires:  an even number of ports.
/// Source:    Leiserson, IEEE Trans. Computers 34(10), 1985; requirement N-11.
struct FatTree {
  std::uint32_t ports = 4;
  std::uint32_t tiers = 3;
  bool by_chance = false;
};
std::unique_ptr<Topology> make_fat_tree(const FatTree& shape);

/// A torus: each host is a switch with a link in both directions of each dimension. Messages correct one dimension after the
/// other, each the shorter way; if both are as long, upwards. Across the middle of d dimensions of m lie 2·m^(d-1) links.
std::unique_ptr<Topology> make_torus(const std::vector<std::uint32_t>& dimensions);

/// Groups of `routers` routers, each with `hosts` hosts, a link to each other router of its group, and `globals` links to other
/// groups. At most routers·globals + 1 groups.
///
/// Minimal: within the group to the router that has a link to the target's group, over it, and within that group. Valiant:
/// so first to another group chosen by chance, then to the target.
/// Source: Kim, Dally, Scott and Abts, Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008.
struct Dragonfly {
  std::uint32_t hosts = 2;
  std::uint32_t routers = 4;
  std::uint32_t globals = 2;
  std::uint32_t groups = 9;
  bool valiant = false;
};
std::unique_ptr<Topology> make_dragonfly(const Dragonfly& shape);

/// A number by chance, always the same for the same arguments.
constexpr std::uint64_t by_chance(std::uint64_t seed, std::uint64_t number) noexcept {
  // splitmix64
  std::uint64_t value = seed + (number + 1) * 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

}  // namespace aqueduct::sim
