#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/reduce_tree.hpp"

namespace aqueduct::coll {

// A member combines at most `radix` vectors, however many members there are: it needs scratch for so many.

namespace {

constexpr Parameter kReduceKAryParameters[] = {{"radix", 1, 64, 2}};

Tree reduce_k_ary_tree(const Shape& shape) noexcept {
  return {Tree::Kind::k_ary, shape.parameters[0], shape.ranks};
}

}  // namespace

constinit const Algorithm kReduceKAry = reduce_on_tree<reduce_k_ary_tree>("k-ary", kReduceKAryParameters);

}  // namespace aqueduct::coll
