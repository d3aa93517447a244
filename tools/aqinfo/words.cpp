#include "tools/aqinfo/words.hpp"

#include "tools/aqinfo/show.hpp"

#include <fmt/format.h>

#include <array>

namespace aqueduct::aqinfo {
namespace {

constexpr std::size_t kWidth = 110;

/// Columns, not bytes: continuation bytes of UTF-8 take no column.
std::size_t columns(std::string_view word) {
  std::size_t count = 0;
  for (const char c : word) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
    if (column > indent && column + 1 + columns(word) > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns(word);
  }
  return out;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >= INT64_MAX) return "no limit";
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  constexpr std::array<std::string_view, 5> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string_view word_for(SettingType type) {
  switch (type) {
    case SettingType::text: return "text";
    case SettingType::number: return "number";
    case SettingType::bytes: return "bytes";
    case SettingType::duration: return "duration";
    case SettingType::boolean: return "boolean";
    case SettingType::choice: return "choice";
  }
  return "text";
}

std::string_view word_for(SettingOrigin origin) {
  switch (origin) {
    case SettingOrigin::built_in: return "built in";
    case SettingOrigin::environment: return "environment";
    case SettingOrigin::program: return "program";
  }
  return "built in";
}

}  // namespace aqueduct::aqinfo
