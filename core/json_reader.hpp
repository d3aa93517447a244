#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::core {

/// A value of a JSON text (RFC 8259), for the few files that the library reads itself. Tools use nlohmann-json.
struct Json {
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  std::string text;
  std::vector<Json> items;         ///< of a list; of an object: the values of its members
  std::vector<std::string> names;  ///< of an object's members, in the order of `items`

  /// The member of that name; null if this is no object or has none.
  const Json* find(std::string_view name) const noexcept;
  /// A whole number from 0 to 2^53. Empty: this is none.
  std::optional<std::uint64_t> whole() const noexcept;
};

struct JsonRead {
  Json value;
  std::string problem;  ///< empty, or what is wrong and where: "byte 17: a value is missing"
};

/// Reads one value. Texts may have escapes, of which \u stands for characters below 128 only.
///
/// Requires: nothing of the text. Errors: `problem`, also for more than 32 levels.
JsonRead read_json(std::string_view text);

}  // namespace aqueduct::core
