#include "tools/aqtune/options.hpp"

#include "coll/tune/operation_word.hpp"
#include "core/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

namespace aqueduct::aqtune {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 29;

std::optional<Collective> operation_named(std::string_view word) {
  for (auto one = Collective::barrier; one <= Collective::exscan;
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

struct TypeWord {
  std::string_view word;
  ElementType type;
  std::uint64_t bytes;
};
constexpr std::array<TypeWord, 6> kTypes{{{"f64", ElementType::f64, 8},
                                          {"f32", ElementType::f32, 4},
                                          {"i64", ElementType::i64, 8},
                                          {"i32", ElementType::i32, 4},
                                          {"u64", ElementType::u64, 8},
                                          {"u32", ElementType::u32, 4}}};

Sync sync_named(std::string_view word, const std::string& text) {
  if (word == "none") return Sync::none;
  if (word == "mine") return Sync::mine;
  if (word == "all") return Sync::all;
  throw BadInput(
      fmt::format("--sync {}: there is no mode '{}'; it may be none, mine or all, or two of them as "
                  "BEGIN:END, and more with commas between them",
                  text, word));
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
    for (auto one = Collective::barrier; one <= Collective::exscan;
         one = static_cast<Collective>(static_cast<int>(one) + 1))
      out.push_back(one);
    return out;
  }
  for (const std::string_view word : words_of(text)) {
    const auto found = operation_named(word);
    if (!found)
      throw BadInput(fmt::format(
          "--ops: there is no operation '{}'; it may be all, or some of barrier, broadcast, scatter, gather, "
          "all_gather, "
          "all_to_all, reduce, all_reduce, reduce_scatter, scan and exscan, with commas between them",
          word));
    out.push_back(*found);
  }
  return out;
}

std::vector<std::pair<Sync, Sync>> read_syncs(const std::string& text) {
  std::vector<std::pair<Sync, Sync>> out;
  for (const std::string_view word : words_of(text)) {
    const std::size_t colon = word.find(':');
    const std::string_view end = colon == std::string_view::npos ? word : word.substr(colon + 1);
    const std::pair modes{sync_named(word.substr(0, colon), text), sync_named(end, text)};
    if (std::find(out.begin(), out.end(), modes) == out.end()) out.push_back(modes);
  }
  return out;
}

std::vector<ElementType> read_types(const std::string& text) {
  std::vector<ElementType> out;
  for (const std::string_view word : words_of(text)) {
    const auto found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeWord& one) { return one.word == word; });
    if (found == kTypes.end())
      throw BadInput(fmt::format("--types {}: '{}' is none of f64, f32, i64, i32, u64 and u32", text, word));
    for (const ElementType other : out) {
      if (bytes_of(other) == found->bytes)
        throw BadInput(
            fmt::format("--types {}: decisions hold for all elements of {} bytes; name one type of a size",
                        text, found->bytes));
    }
    out.push_back(found->type);
  }
  return out;
}

bool combines(Collective operation) noexcept {
  return operation == Collective::reduce || operation == Collective::all_reduce ||
         operation == Collective::reduce_scatter || operation == Collective::scan ||
         operation == Collective::exscan;
}

std::uint64_t bytes_of(ElementType type) noexcept {
  for (const TypeWord& one : kTypes) {
    if (one.type == type) return one.bytes;
  }
  return 1;
}

std::vector<std::pair<Way, std::vector<Collective>>> ways_of(const Options& options) {
  std::vector<Collective> reductions;
  std::copy_if(options.operations.begin(), options.operations.end(), std::back_inserter(reductions),
               combines);
  std::vector<std::pair<Way, std::vector<Collective>>> out;
  for (const auto& sync : options.syncs) {
    for (const ElementType type : options.types) {
      auto operations = type == options.types.front() ? options.operations : reductions;
      if (sync != options.syncs.front()) std::erase(operations, Collective::barrier);  // it has no modes
      if (!operations.empty()) out.push_back({{sync, type}, std::move(operations)});
    }
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

void check_sizes(const std::vector<Collective>& operations, const std::vector<std::uint64_t>& bytes,
                 const std::vector<ElementType>& types) {
  for (const Collective one : operations) {
    if (!combines(one)) continue;
    for (const std::uint64_t size : bytes) {
      for (const ElementType type : types) {
        if (size % bytes_of(type) == 0) continue;
        throw BadInput(
            fmt::format("--bytes {}: {} adds numbers of {} bytes, so its blocks are multiples of that", size,
                        coll::operation_word(one), bytes_of(type)));
      }
    }
  }
}

}  // namespace aqueduct::aqtune
