#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace aqueduct::aqinfo {

/// The text, wrapped between words before column 110. It starts behind `indent`
/// columns, and later lines are indented by as much.
std::string wrapped(std::string_view text, std::size_t indent);

/// "24.0 GiB", "4.0 KiB", "100 bytes", "no limit".
std::string size_text(std::uint64_t bytes);

}  // namespace aqueduct::aqinfo
