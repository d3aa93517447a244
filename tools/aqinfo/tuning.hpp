#pragma once

#include <aqueduct/config.hpp>

#include "coll/tune/tuning_table.hpp"

namespace aqueduct::aqinfo {

/// What a job of so many ranks with these settings would agree on, if they were on this kind of machine: by smp on one host, and by the
/// conduit that the settings name between hosts. Without a named one nothing is known between hosts.
coll::TuningTable tuning_here(const Config& config, Rank ranks);

}  // namespace aqueduct::aqinfo
