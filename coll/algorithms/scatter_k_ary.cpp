#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/scatter_tree.hpp"

namespace aqueduct::coll {

// Subtrees of nearly equal size, and at most `radix` messages of any member.

namespace {

constexpr Parameter kScatterKAryParameters[] = {{"radix", 2, 1024, 4}};

}  // namespace

constinit const Algorithm kScatterKAry = scatter_on_tree<Tree::Kind::k_ary>("k-ary", kScatterKAryParameters);

}  // namespace aqueduct::coll
