#pragma once

#include <string>
#include <string_view>

namespace aqueduct::core {

/// A message as people can read it: of a word longer than kReadableWord bytes, such as a path or the value of a setting, only
/// the first ones are left, and how many there were: "… (130000 bytes)". So it is with a whole message beyond kReadableText.
std::string readable(std::string_view text);
/// Chosen: the length of the longest path (PATH_MAX), and twice that.
inline constexpr std::size_t kReadableWord = 4096;
inline constexpr std::size_t kReadableText = 8192;

/// The first `most` bytes at the most, followed by how many there are if that is not all.
std::string cut_after(std::string_view text, std::size_t most);

}  // namespace aqueduct::core
