#pragma once

#include <aqueduct/config.hpp>
#include <aqueduct/status.hpp>

#include <vector>

namespace aqueduct::runtime {

struct EndpointParts;

// All that has to know which layers there are. A new layer is its folder, a member of EndpointParts, a line in each of these
// functions, and, if it has handlers, their numbers in am/layer_handlers.hpp (docs/architecture.md has an example).

/// The settings of the job, of core and of the layers, in the order in which they are shown.
std::vector<SettingInfo> layer_settings();
/// Builds the layers of an endpoint, the lower ones first. Requires: the conduits are connected.
/// Errors: internal (two layers want one handler's number).
Status build_layers(EndpointParts& parts);
/// Ends them, the upper ones first.
void end_layers(EndpointParts& parts) noexcept;

}  // namespace aqueduct::runtime
