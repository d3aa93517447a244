#include "core/settings.hpp"

#include "core/nearest_name.hpp"
#include "core/readable.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

namespace aqueduct::core {
namespace {

struct Unit {
  std::string_view suffix;
  std::int64_t factor;
};

constexpr std::array kByteUnits{Unit{"", 1},          Unit{"K", 1LL << 10}, Unit{"M", 1LL << 20},
                                Unit{"G", 1LL << 30}, Unit{"T", 1LL << 40}, Unit{"k", 1LL << 10},
                                Unit{"m", 1LL << 20}, Unit{"g", 1LL << 30}, Unit{"t", 1LL << 40}};
constexpr std::array kTimeUnits{Unit{"ns", 1}, Unit{"us", 1'000}, Unit{"ms", 1'000'000},
                                Unit{"s", 1'000'000'000}};

std::optional<std::int64_t> factor_of(std::string_view suffix, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (unit.suffix == suffix) return unit.factor;
  }
  return std::nullopt;
}

enum class Reading { good, malformed, too_big };

/// Reads a whole number with a suffix. A number without a suffix has the suffix `plain`.
Reading read_quantity(std::string_view value, std::span<const Unit> units, std::string_view plain,
                      std::int64_t& result) {
  const char* const end = value.data() + value.size();
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc::invalid_argument) return Reading::malformed;
  std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  const auto factor = factor_of(suffix.empty() ? plain : suffix, units);
  if (!factor) return Reading::malformed;
  if (error == std::errc::result_out_of_range) return Reading::too_big;
  return __builtin_mul_overflow(number, *factor, &result) ? Reading::too_big : Reading::good;
}

/// Calls `each(word, index)` for the words of a choice until it returns true.
template <class F>
void for_each_choice(std::string_view choices, F&& each) {
  for (std::int64_t index = 0; !choices.empty(); ++index) {
    const std::size_t bar = choices.find('|');
    if (each(choices.substr(0, bar), index)) return;
    choices = bar == std::string_view::npos ? std::string_view{} : choices.substr(bar + 1);
  }
}

/// 16777216 as a user would write it: "16M".
std::string in_units(std::int64_t bytes) {
  constexpr std::string_view kSuffixes = "KMGT";
  std::string suffix;
  for (std::size_t i = 0; i < kSuffixes.size() && bytes != 0 && bytes % 1024 == 0; ++i) {
    bytes /= 1024;
    suffix = kSuffixes[i];
  }
  return fmt::format("{}{}", bytes, suffix);
}

std::string limit_text(const SettingInfo& info, std::int64_t limit) {
  return info.type == SettingType::bytes ? in_units(limit) : fmt::format("{}", limit);
}

std::string complain(const SettingInfo& info, std::string_view value, std::string_view what) {
  const std::string standard =
      info.default_value.empty() ? "" : fmt::format(" (default {})", info.default_value);
  return fmt::format("{}={}: {}; it may be {}{}", info.environment, quoted(value), what, allowed_values(info),
                     standard);
}

SettingValue read_number(const SettingInfo& info, std::string_view value) {
  SettingValue result{std::string(value), 0, {}};
  const bool time = info.type == SettingType::duration;
  const std::span<const Unit> units = info.type == SettingType::number ? std::span(kByteUnits).first(1)
                                      : time                           ? std::span<const Unit>(kTimeUnits)
                                                                       : std::span<const Unit>(kByteUnits);
  switch (read_quantity(value, units, time ? info.unit : std::string_view{}, result.number)) {
    case Reading::malformed: result.problem = complain(info, value, "this cannot be read"); break;
    case Reading::too_big:
      result.problem =
          complain(info, value, value.front() == '-' ? "this is too small" : "this is too large");
      break;
    case Reading::good:
      if (result.number < info.least) result.problem = complain(info, value, "this is too small");
      if (result.number > info.most) result.problem = complain(info, value, "this is too large");
      break;
  }
  return result;
}

SettingValue read_choice(const SettingInfo& info, std::string_view value) {
  SettingValue result;
  NearestName nearest(value);
  bool found = false;
  for_each_choice(info.choices, [&](std::string_view word, std::int64_t index) {
    nearest.offer(word);
    if (word != value) return false;
    found = true;
    result.text = word;
    result.number = index;
    return true;
  });
  if (found) return result;
  result.problem = complain(info, value, "there is no such choice");
  result.problem += nearest.hint();
  return result;
}

}  // namespace

namespace {

constexpr std::size_t kLongestValue = 60;

std::string printable(std::string_view value) {
  std::string result(value);
  for (char& c : result) c = c >= ' ' && c <= '~' ? c : '?';
  return result;
}

}  // namespace

std::string quoted(std::string_view value) { return cut_after(printable(value), kLongestValue); }

std::string quoted_beside(std::string_view value, std::string_view other) {
  constexpr std::size_t kBefore = 20;  // bytes that both have
  const auto differ = std::mismatch(value.begin(), value.end(), other.begin(), other.end()).first;
  const auto same = static_cast<std::size_t>(differ - value.begin());
  if (same <= kBefore || std::max(value.size(), other.size()) <= kLongestValue) return quoted(value);
  const std::string_view shown = value.substr(same - kBefore, kLongestValue);
  const bool to_the_end = same - kBefore + shown.size() == value.size();
  return fmt::format("…{}{} ({} bytes)", printable(shown), to_the_end ? "" : "…", value.size());
}

namespace {

/// A time in the largest of s, ms and ns in which it is a whole number.
std::string time_text(std::int64_t nanoseconds) {
  if (nanoseconds % 1'000'000'000 == 0) return fmt::format("{}s", nanoseconds / 1'000'000'000);
  if (nanoseconds % 1'000'000 == 0) return fmt::format("{}ms", nanoseconds / 1'000'000);
  return fmt::format("{}ns", nanoseconds);
}

}  // namespace

std::string allowed_values(const SettingInfo& info) {
  switch (info.type) {
    case SettingType::text: return "any text";
    case SettingType::boolean: return "on or off";
    case SettingType::choice: {
      std::string words;
      for_each_choice(info.choices, [&](std::string_view word, std::int64_t) {
        words += words.empty() ? "" : ", ";
        words += word;
        return false;
      });
      return "one of " + words;
    }
    case SettingType::duration:
      return fmt::format("a whole number of ns, us, ms or s ({} if it has none), such as {}{}", info.unit,
                         info.default_value.empty() ? "10ms" : info.default_value,
                         info.least == 0 && info.most == INT64_MAX
                             ? ""
                             : fmt::format(", from {} to {}", time_text(info.least), time_text(info.most)));
    case SettingType::number:
    case SettingType::bytes: break;
  }
  const std::string_view what = info.type == SettingType::bytes
                                    ? "a whole number of bytes or of K, M, G or T (powers of 1024)"
                                    : "a whole number";
  if (info.most == INT64_MAX) return fmt::format("{}, at least {}", what, limit_text(info, info.least));
  return fmt::format("{} from {} to {}", what, limit_text(info, info.least), limit_text(info, info.most));
}

int read_truth(std::string_view word) noexcept {
  for (const std::string_view yes : {"on", "yes", "true", "1"}) {
    if (word == yes) return 1;
  }
  for (const std::string_view no : {"off", "no", "false", "0"}) {
    if (word == no) return 0;
  }
  return -1;
}

SettingValue read_setting(const SettingInfo& info, std::string_view value) {
  if (info.type == SettingType::text) return {std::string(value), 0, {}};
  if (value.empty()) return {{}, 0, complain(info, value, "this is empty")};
  switch (info.type) {
    case SettingType::choice: return read_choice(info, value);
    case SettingType::boolean: {
      const int truth = read_truth(value);
      if (truth < 0) return {{}, 0, complain(info, value, "this cannot be read")};
      return {truth != 0 ? "on" : "off", truth, {}};
    }
    default: return read_number(info, value);
  }
}

}  // namespace aqueduct::core
