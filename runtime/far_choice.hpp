#pragma once

#include "conduits/registry.hpp"
#include "runtime/choice.hpp"

#include <span>
#include <string>
#include <vector>

namespace aqueduct::runtime {

/// The automatic choice among conduits that cross hosts.
struct FarChoice {
  const core::ConduitEntry* entry = nullptr;  ///< null: no conduit is usable by all processes
  std::string why;
  std::vector<PassedOver> passed_over;
};

/// Probes all conduits, asks the other processes which ones they can use over the same kind of wire, and takes the one
/// with the best wire. Errors: those of `ask_all`.
Result<FarChoice> choose_far(std::span<const conduits::Available> all, const Config& config,
                             const Circumstances& job);

}  // namespace aqueduct::runtime
