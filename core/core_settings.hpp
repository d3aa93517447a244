#pragma once

#include <aqueduct/config.hpp>

#include <span>

namespace aqueduct::core {

/// The settings of core: for operations, segments, waits and the log.
std::span<const SettingInfo> core_settings() noexcept;

}  // namespace aqueduct::core
