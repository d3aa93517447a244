#pragma once

#include <functional>
#include <string_view>

namespace aqueduct::bootstrap {

/// Where the reasons of failures go, as text for people.
using Report = std::function<void(std::string_view why)>;

}  // namespace aqueduct::bootstrap
