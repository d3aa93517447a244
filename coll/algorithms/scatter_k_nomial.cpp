#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/scatter_tree.hpp"

namespace aqueduct::coll {

// The root stays busy while blocks travel. With radix P it is flat.

namespace {

constexpr Parameter kScatterKNomialParameters[] = {{"radix", 2, 1024, 4}};

}  // namespace

constinit const Algorithm kScatterKNomial =
    scatter_on_tree<Tree::Kind::k_nomial>("k-nomial", kScatterKNomialParameters);

}  // namespace aqueduct::coll
