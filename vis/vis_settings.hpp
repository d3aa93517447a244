#pragma once

#include <aqueduct/config.hpp>

#include <span>

namespace aqueduct::vis {

/// How transfers of pieces go.
std::span<const SettingInfo> vis_settings() noexcept;

}  // namespace aqueduct::vis
