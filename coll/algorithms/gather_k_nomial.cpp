#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/gather_tree.hpp"

namespace aqueduct::coll {

// Few rounds, and the blocks of a far member arrive last. With radix P it is flat.

namespace {

constexpr Parameter kGatherKNomialParameters[] = {{"radix", 2, 1024, 4}};

}  // namespace

constinit const Algorithm kGatherKNomial =
    gather_on_tree<Tree::Kind::k_nomial>("k-nomial", kGatherKNomialParameters);

}  // namespace aqueduct::coll
