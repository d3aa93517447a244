#pragma once

#include <aqueduct/config.hpp>

#include <span>

namespace aqueduct::runtime {

/// What a job is made of and how its processes meet.
std::span<const SettingInfo> job_settings() noexcept;

}  // namespace aqueduct::runtime
