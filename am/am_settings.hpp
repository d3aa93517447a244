#pragma once

#include <aqueduct/config.hpp>

#include <span>

namespace aqueduct::am {

/// How many handlers, requests and prepared messages there may be.
std::span<const SettingInfo> am_settings() noexcept;

}  // namespace aqueduct::am
