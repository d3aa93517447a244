#include "pointer_chase/list.hpp"

#include "common/check.hpp"

#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace pointer_chase {

using example::need;

List::List(aqueduct::Endpoint& ep, std::uint32_t nodes_per_rank, std::uint64_t seed)
    : per_rank_(nodes_per_rank),
      nodes_(per_rank_ * ep.ranks()),
      segment_(need(aqueduct::Segment::create<Link>(ep.world(), per_rank_), "allocate the nodes")) {
  if (ep.rank() == 0) {
    std::vector<std::uint64_t> order(nodes_);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 random(seed);
    // Fisher and Yates's shuffle written out: std::shuffle gives a different order with each standard library.
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Link next = link_to(order[(i + 1) % order.size()]);
      need(aqueduct::put_value_nbi(ep, node(link_to(order[i])), next), "write a link");
    }
    need(ep.wait_implicit(), "write the links");
  }
  need(ep.barrier(), "barrier");
}

}  // namespace pointer_chase
