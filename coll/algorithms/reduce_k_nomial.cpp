#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/reduce_tree.hpp"

namespace aqueduct::coll {

// Arrivals are staggered: a parent combines the vector of a small subtree while a large one is at work. With radix P the
// tree is flat.

namespace {

constexpr Parameter kReduceKNomialParameters[] = {{"radix", 2, 1024, 2}};

Tree reduce_k_nomial_tree(const Shape& shape) noexcept {
  return {Tree::Kind::k_nomial, shape.parameters[0], shape.ranks};
}

}  // namespace

constinit const Algorithm kReduceKNomial =
    reduce_on_tree<reduce_k_nomial_tree>("k-nomial", kReduceKNomialParameters);

}  // namespace aqueduct::coll
