#pragma once

#include <aqueduct/config.hpp>

#include <span>

namespace aqueduct::coll {

/// AQUEDUCT_COLL_TUNING and AQUEDUCT_COLL_CHOICE. They may differ between ranks: rank 0's are those of the job.
std::span<const SettingInfo> tuning_settings() noexcept;

}  // namespace aqueduct::coll
