#include "runtime/parts.hpp"

#include "runtime/layers.hpp"

namespace aqueduct::runtime {

EndpointParts::~EndpointParts() {
  end_layers(state);
  state.near.reset();  // conduits end before the memory that peers may still read
  state.far.reset();
}

}  // namespace aqueduct::runtime
