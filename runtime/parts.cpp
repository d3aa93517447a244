#include "runtime/parts.hpp"

#include "runtime/layers.hpp"

namespace aqueduct::runtime {

EndpointParts::~EndpointParts() {
  state.stand_in.reset();  // its thread uses the layers
  end_layers(state);
  state.near.reset();  // before the memory, because a conduit may still serve reads of it by peers
  state.far.reset();
}

}  // namespace aqueduct::runtime
