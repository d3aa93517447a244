#include "tools/aqtune/options.hpp"

#include "coll/tune/operation_word.hpp"
#include "core/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace aqueduct::aqtune {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 29;

std::optional<Collective> operation_named(std::string_view word) {
  for (auto one = Collective::broadcast; one <= Collective::exscan;
       one = static_cast<Collective>(static_cast<int>(one) + 1)) {
    if (coll::operation_word(one) == word) return one;
  }
  return std::nullopt;
}

std::uint64_t read_size(std::string_view word) {
  // The units are those of a setting in bytes.
  constexpr SettingInfo kInfo{
      "bytes", "--bytes", SettingType::bytes, "bytes", "", "", 1, static_cast<std::int64_t>(kMostBytes)};
  const core::SettingValue value = core::read_setting(kInfo, word);
  if (!value.problem.empty()) throw BadInput(value.problem);
  return static_cast<std::uint64_t>(value.number);
}

/// The words of a list with commas.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
    words.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  words.push_back(text);
  return words;
}

}  // namespace

std::vector<Collective> read_operations(const std::string& text) {
  std::vector<Collective> out;
  if (text == "all") {
    for (auto one = Collective::broadcast; one <= Collective::exscan;
         one = static_cast<Collective>(static_cast<int>(one) + 1))
      out.push_back(one);
    return out;
  }
  for (const std::string_view word : words_of(text)) {
    const auto found = operation_named(word);
    if (!found)
      throw BadInput(fmt::format(
          "--ops: there is no operation '{}'; it may be all, or some of broadcast, scatter, gather, "
          "all_gather, "
          "all_to_all, reduce, all_reduce, reduce_scatter, scan and exscan, with commas between them",
          word));
    out.push_back(*found);
  }
  return out;
}

std::vector<std::uint64_t> read_sizes(const std::string& text) {
  std::vector<std::uint64_t> out;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    for (const std::string_view word : words_of(text)) out.push_back(read_size(word));
    return out;
  }
  const std::uint64_t first = read_size(std::string_view(text).substr(0, colon));
  const std::uint64_t last = read_size(std::string_view(text).substr(colon + 1));
  if (last < first) throw BadInput(fmt::format("--bytes {}: the first is greater than the last", text));
  for (std::uint64_t bytes = first; bytes < last; bytes *= 4) out.push_back(bytes);
  out.push_back(last);
  return out;
}

void check_sizes(const std::vector<Collective>& operations, const std::vector<std::uint64_t>& bytes) {
  constexpr std::uint64_t kElement = sizeof(double);
  for (const Collective one : operations) {
    const bool combines = one == Collective::reduce || one == Collective::all_reduce ||
                          one == Collective::reduce_scatter || one == Collective::scan ||
                          one == Collective::exscan;
    if (!combines) continue;
    for (const std::uint64_t size : bytes) {
      if (size % kElement != 0)
        throw BadInput(
            fmt::format("--bytes {}: {} adds numbers of {} bytes (f64), so its blocks are multiples of that",
                        size, coll::operation_word(one), kElement));
    }
  }
}

}  // namespace aqueduct::aqtune
