#include "runtime/parts.hpp"

#include "runtime/layers.hpp"

namespace aqueduct::runtime {

EndpointParts::~EndpointParts() {
  end_layers(state);
  state.near.reset();  // before the memory, because a conduit may still serve reads of it by peers
  state.far.reset();
}

}  // namespace aqueduct::runtime
