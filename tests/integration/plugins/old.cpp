// A plug-in with another version of the conduit interface.
#include "core/network.hpp"

namespace {
using namespace aqueduct;

const core::ConduitEntry kEntry{.interface_version = core::kConduitInterface + 1,
                                .name = "old",
                                .summary = "never looked at",
                                .crosses_hosts = true,
                                .settings = {},
                                .probe = nullptr,
                                .make = nullptr};
}  // namespace

extern "C" const aqueduct::core::ConduitEntry* aqueduct_conduit() { return &kEntry; }
