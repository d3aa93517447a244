#pragma once

#include "conduits/ibv/objects.hpp"

#include <cstdint>

namespace aqueduct::conduits::ibv {

/// What every part of one endpoint uses: the library, the first port and what was opened on it, the settings, and who it is.
struct Environment {
  const Verbs& verbs;
  const Port& port;
  core::Log& log;
  IbvOptions options;
  std::uint64_t job;
  Rank me;
  Rank ranks;  ///< of the job
  Objects objects;

  const Sizes& sizes() const noexcept { return objects.sizes; }
};

}  // namespace aqueduct::conduits::ibv
