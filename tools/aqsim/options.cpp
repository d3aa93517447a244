#include "tools/aqsim/options.hpp"

#include "coll/tune/operation_word.hpp"
#include "coll/tune/tree_setting.hpp"
#include "tools/given_value.hpp"
#include "tools/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace aqueduct::aqsim {

using sim::BadInput;

namespace {

std::optional<coll::Sync> sync_of(std::string_view word) {
  if (word == "none") return coll::Sync::none;
  if (word == "mine") return coll::Sync::mine;
  if (word == "all") return coll::Sync::all;
  return std::nullopt;
}

}  // namespace

std::vector<std::uint64_t> read_range(const std::string& text, const char* what, std::uint64_t most) {
  const std::size_t colon = text.find(':');
  const auto first = tools::read_size(std::string_view(text).substr(0, colon));
  const auto last =
      colon == std::string::npos ? first : tools::read_size(std::string_view(text).substr(colon + 1));
  if (!first || !last || *last < *first || *last > most)
    throw BadInput(
        fmt::format("{} are given as A or A:B, such as 8:64K, the lower first and at most {}; not as '{}'",
                    what, most, text));
  std::vector<std::uint64_t> out{*first};
  for (std::uint64_t value = std::max<std::uint64_t>(1, *first * 2); value < *last; value *= 2)
    out.push_back(value);
  if (*last != *first) out.push_back(*last);
  return out;
}

void read_sync(const std::string& text, Options& options) {
  const std::size_t colon = text.find(':');
  const auto in = sync_of(std::string_view(text).substr(0, colon));
  const auto out = colon == std::string::npos ? in : sync_of(std::string_view(text).substr(colon + 1));
  if (!in || !out) throw BadInput(fmt::format("sync modes are none, mine or all, as IN:OUT; not '{}'", text));
  options.in = *in;
  options.out = *out;
}

void read_noise(const std::string& text, Options& options) {
  const std::size_t colon = text.find(':');
  const auto read = [&](std::size_t begin, std::size_t length) {
    return tools::read_real(std::string_view(text).substr(begin, length)).value_or(0);
  };
  const double period = read(0, colon);
  const double length = colon == std::string::npos ? 0 : read(colon + 1, std::string::npos);
  constexpr double kPicosecond = 1e-6;  // times are whole picoseconds
  if (!(length >= kPicosecond) || !(period >= length + kPicosecond) || period > 1e9)
    throw BadInput(
        fmt::format("noise is PERIOD:LENGTH in microseconds, such as 1000:25, the length shorter, from "
                    "0.000001 to 1e9; not '{}'",
                    text));
  options.noise_period_us = period;
  options.noise_us = length;
}

void read_tree(const std::string& text, Options& options) {
  coll::TreeRead read = coll::read_tree(text);
  if (!read.problem.empty()) throw BadInput(fmt::format("--tree '{}': {}", text, read.problem));
  options.tree = std::move(read.recipe);
}

coll::Operation read_operation(const std::string& word) {
  std::string name = word;
  std::replace(name.begin(), name.end(), '-', '_');
  std::string names;
  for (int i = 0; i <= static_cast<int>(coll::Operation::all_to_all_v); ++i) {
    const auto operation = static_cast<coll::Operation>(i);
    if (coll::operation_word(operation) == name) return operation;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", coll::operation_word(operation));
  }
  throw BadInput(fmt::format("there is no operation '{}'; there are: {}, and curves", word, names));
}

}  // namespace aqueduct::aqsim
