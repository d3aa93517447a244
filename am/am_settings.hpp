#pragma once

#include <aqueduct/config.hpp>

#include <span>

namespace aqueduct::am {

/// The settings of am: the number of handlers, credits and prepared payloads.
std::span<const SettingInfo> am_settings() noexcept;

}  // namespace aqueduct::am
