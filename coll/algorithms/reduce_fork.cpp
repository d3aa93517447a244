#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/fork.hpp"
#include "coll/algorithms/reduce_tree.hpp"

namespace aqueduct::coll {

// Along the links of a mesh or torus.

namespace {

constexpr Parameter kReduceForkParameters[] = {kForkRow, kForkRows};

}  // namespace

constinit const Algorithm kReduceFork = reduce_on_tree<fork_tree>("fork", kReduceForkParameters);

}  // namespace aqueduct::coll
