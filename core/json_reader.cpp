#include "core/json_reader.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <utility>

namespace aqueduct::core {
namespace {

constexpr int kMostLevels = 32;

/// Reads a text from front to back. After a problem nothing more is read.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  JsonRead read() {
    JsonRead read;
    read.value = value(0);
    skip_space();
    if (problem_.empty() && at_ != text_.size()) fail("something follows the value");
    read.problem = std::move(problem_);
    return read;
  }

 private:
  void fail(const char* what) {
    if (problem_.empty()) problem_ = fmt::format("byte {}: {}", at_, what);
    at_ = text_.size();
  }
  void skip_space() noexcept {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) noexcept {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) noexcept {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json value(int level) {
    Json found;
    if (level > kMostLevels) {
      fail("the values are nested too deeply");
    } else if (take('{')) {
      found.kind = Json::Kind::object;
      members(found, level);
    } else if (take('[')) {
      found.kind = Json::Kind::list;
      items(found, level);
    } else if (take('"')) {
      found.kind = Json::Kind::text;
      found.text = text();
    } else if (take_word("true")) {
      found.kind = Json::Kind::boolean;
      found.boolean = true;
    } else if (take_word("false")) {
      found.kind = Json::Kind::boolean;
    } else if (!take_word("null")) {
      found.kind = Json::Kind::number;
      number(found.number);
    }
    return found;
  }
  void members(Json& object, int level) {
    if (take('}')) return;
    do {
      if (!take('"')) return fail("the name of a member is missing");
      std::string name = text();
      if (!take(':')) return fail("a colon is missing");
      object.names.push_back(std::move(name));
      object.items.push_back(value(level + 1));
    } while (problem_.empty() && take(','));
    if (problem_.empty() && !take('}')) fail("a comma or a closing brace is missing");
  }
  void items(Json& list, int level) {
    if (take(']')) return;
    do {
      list.items.push_back(value(level + 1));
    } while (problem_.empty() && take(','));
    if (problem_.empty() && !take(']')) fail("a comma or a closing bracket is missing");
  }
  void number(double& into) {
    const char* const end = text_.data() + text_.size();
    const bool begins = at_ < text_.size() && (text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9'));
    if (!begins) return fail("a value is missing");
    const auto [rest, error] = std::from_chars(text_.data() + at_, end, into);
    if (error != std::errc{} || !std::isfinite(into)) return fail("this is no number");
    at_ = static_cast<std::size_t>(rest - text_.data());
  }
  std::string text() {
    std::string found;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) {
        fail("a text contains a control character");
      } else if (c == '\\') {
        c = escaped();
      }
      found += c;
    }
    if (at_ == text_.size()) {
      fail("a text does not end");
    } else {
      ++at_;
    }
    return found;
  }
  char escaped() {
    if (at_ == text_.size()) return '\0';  // `text` finds that it does not end
    const char c = text_[at_++];
    switch (c) {
      case '"':
      case '\\':
      case '/': return c;
      case 'b': return '\b';
      case 'f': return '\f';
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      case 'u': break;
      default: fail("there is no such escape"); return c;
    }
    unsigned code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || error != std::errc{} || rest != digits.data() + 4 || code >= 128) {
      fail("this escape is not supported");
      return '\0';
    }
    at_ += 4;
    return static_cast<char>(code);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
};

}  // namespace

const Json* Json::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return &items[i];
  }
  return nullptr;
}

std::optional<std::uint64_t> Json::whole() const noexcept {
  constexpr double kMost = 9007199254740992.0;
  if (kind != Kind::number || number < 0 || number > kMost || number != std::floor(number))
    return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

JsonRead read_json(std::string_view text) { return Reader(text).read(); }

}  // namespace aqueduct::core
