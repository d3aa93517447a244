#pragma once

#include "tools/aqinfo/facts.hpp"

#include <string>

namespace aqueduct::aqinfo {

/// The facts as readable text, wrapped before column 110 where words allow it, and as one JSON object.
std::string as_text(const Facts& facts);
std::string as_json(const Facts& facts);

/// The registry of error codes.
std::string errors_as_text();
std::string errors_as_json();

/// The words for a setting's type and the origin of its value.
std::string_view word_for(SettingType type);
std::string_view word_for(SettingOrigin origin);

}  // namespace aqueduct::aqinfo
