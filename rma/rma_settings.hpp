#pragma once

#include <aqueduct/config.hpp>

#include <span>

namespace aqueduct::rma {

/// Who does what.
std::span<const SettingInfo> rma_settings() noexcept;

}  // namespace aqueduct::rma
