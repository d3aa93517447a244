#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/gather_tree.hpp"

namespace aqueduct::coll {

// Subtrees of nearly equal size: a member is written to by at most `radix` others.

namespace {

constexpr Parameter kGatherKAryParameters[] = {{"radix", 2, 1024, 4}};

}  // namespace

constinit const Algorithm kGatherKAry = gather_on_tree<Tree::Kind::k_ary>("k-ary", kGatherKAryParameters);

}  // namespace aqueduct::coll
