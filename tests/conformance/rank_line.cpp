#include "tests/conformance/rank_line.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>

#include <unistd.h>

namespace aqueduct::conformance {

namespace {

constexpr std::string_view kMark = "@aqconform ";
constexpr std::array<std::string_view, 3> kWords{"failed", "skipped", "ended"};  // as RankLine::Kind
// A pipe takes as many bytes in one piece. Launchers may put a label in front.
constexpr std::size_t kMostLine = PIPE_BUF - 96;

/// Appends `text` without blanks and line ends, as far as there is room.
void append_escaped(std::string& out, std::string_view text, std::size_t most) {
  for (const char c : text) {
    if (out.size() + 2 > most) return;
    switch (c) {
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case ' ': out += "\\s"; break;
      default: out += c;
    }
  }
}

/// Nothing if it is not escaped text.
std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    switch (text[i]) {
      case '\\': out += '\\'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 's': out += ' '; break;
      default: return std::nullopt;
    }
  }
  return out;
}

std::string_view next_word(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

template <class Number>
bool read_number(std::string_view word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

std::string format_line(const RankLine& line) {
  std::string out(kMark);
  out += kWords[static_cast<std::size_t>(line.kind)];
  out += ' ' + std::to_string(line.rank) + ' ' + std::to_string(line.report.line) + ' ';
  append_escaped(out, line.report.file, kMostLine / 4);
  out += ' ';
  append_escaped(out, line.report.text, kMostLine);
  return out += '\n';
}

std::optional<RankLine> parse_line(std::string_view text) {
  const std::size_t mark = text.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  text.remove_prefix(mark + kMark.size());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  RankLine line;
  const auto* const word = std::ranges::find(kWords, next_word(text));
  if (word == kWords.end()) return std::nullopt;
  line.kind = static_cast<RankLine::Kind>(word - kWords.begin());
  if (!read_number(next_word(text), line.rank) || !read_number(next_word(text), line.report.line)) {
    return std::nullopt;
  }
  auto file = unescaped(next_word(text));
  auto rest = unescaped(text);
  if (!file || !rest) return std::nullopt;
  line.report.file = *std::move(file);
  line.report.text = *std::move(rest);
  return line;
}

void tell_kit(const RankLine& line) noexcept {
  const std::string text = format_line(line);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t bytes = ::write(STDOUT_FILENO, text.data() + written, text.size() - written);
    if (bytes < 0 && errno != EINTR) return;
    if (bytes > 0) written += static_cast<std::size_t>(bytes);
  }
}

}  // namespace aqueduct::conformance
