#pragma once

#include <aqueduct/job.hpp>

#include "tools/aqtune/options.hpp"

namespace aqueduct::aqtune {

/// What this rank does in a search. Its exit status. Errors: BadInput.
int tune_here(Job& job, const Options& options);

}  // namespace aqueduct::aqtune
