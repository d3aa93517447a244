#pragma once

#include <aqueduct/config.hpp>

#include <span>

namespace aqueduct::core {

/// How operations, waits and the log behave.
std::span<const SettingInfo> core_settings() noexcept;

}  // namespace aqueduct::core
