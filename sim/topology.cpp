#include "sim/topology.hpp"

#include <limits>
#include <stdexcept>

namespace aqueduct::sim {

Topology::Topology(Host hosts, std::uint64_t inner) : hosts_(hosts), links_(0) {
  const std::uint64_t all = 2 * std::uint64_t{hosts} + inner;
  if (hosts == 0) throw std::invalid_argument("a topology has at least one host");
  if (all > std::numeric_limits<Link>::max() / 2)
    throw std::invalid_argument("a topology of " + std::to_string(hosts) +
                                " hosts has too many links; make it smaller");
  links_ = static_cast<Link>(all);
}

namespace {

class Crossbar final : public Topology {
 public:
  explicit Crossbar(Host hosts) : Topology(hosts, 0) {}
  std::uint32_t hops(Host from, Host to) const override { return from == to ? 0 : 1; }
  std::string name() const override { return "crossbar of " + std::to_string(hosts()); }

 private:
  void between(Host, Host, std::uint64_t, Route&) const override {}
};

}  // namespace

std::unique_ptr<Topology> make_crossbar(Host hosts) { return std::make_unique<Crossbar>(hosts); }

}  // namespace aqueduct::sim
