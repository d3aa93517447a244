#include "core/readable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduct::core {

std::string cut_after(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto within_character = [&](std::size_t at) {  // of UTF-8
    return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  std::size_t end = most;
  while (end > 0 && most - end < 3 && within_character(end)) --end;
  if (within_character(end)) end = most;  // no character is longer than four bytes: this is not UTF-8
  return fmt::format("{}… ({} bytes)", text.substr(0, end), text.size());
}

std::string readable(std::string_view text) {
  constexpr std::string_view kBetweenWords = " \n'\"";
  constexpr std::string_view kStops = ".,:;)";
  std::string out;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(kBetweenWords));
    text.remove_prefix(word.size());
    out += cut_after(word, kReadableWord);
    if (word.size() > kReadableWord && kStops.find(word.back()) != std::string_view::npos) out += word.back();
    const std::size_t between = std::min(text.find_first_not_of(kBetweenWords), text.size());
    out += text.substr(0, between);
    text.remove_prefix(between);
  }
  return cut_after(out, kReadableText);
}

}  // namespace aqueduct::core
