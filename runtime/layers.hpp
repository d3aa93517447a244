#pragma once

#include <aqueduct/config.hpp>
#include <aqueduct/status.hpp>

#include <vector>

namespace aqueduct::runtime {

struct EndpointParts;

// The only code that knows all layers. A new layer needs: its folder, a member of EndpointParts, a line in each of
// these functions, and the numbers of its handlers in am/layer_handlers.hpp. docs/architecture.md has an example.

/// The settings of the job, of core and of the layers, in the order in which aqinfo shows them.
std::vector<SettingInfo> layer_settings();
/// Builds the layers of an endpoint, the lower ones first: a layer
/// finds those below it. Requires: the conduits are connected.
/// Errors: internal (two layers use the same handler number).
Status build_layers(EndpointParts& parts);
/// Ends the layers, the upper ones first.
void end_layers(EndpointParts& parts) noexcept;

}  // namespace aqueduct::runtime
