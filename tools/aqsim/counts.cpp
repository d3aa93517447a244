#include "tools/aqsim/counts.hpp"

#include "coll/tune/operation_word.hpp"
#include "core/settings.hpp"
#include "sim/free_memory.hpp"
#include "sim/topology.hpp"
#include "tools/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

namespace aqueduct::aqsim {

using sim::BadInput;

namespace {

constexpr std::uint64_t kMostNumbers = 1U << 28;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

/// "1K", or "64x1K" for 64 of them. Nothing: neither, or out of bounds.
bool read_item(std::string_view text, std::vector<std::uint64_t>& out) {
  const std::size_t times = text.find('x');
  const auto count = times == std::string_view::npos ? std::optional<std::uint64_t>(1)
                                                     : tools::read_size(text.substr(0, times));
  const auto bytes = tools::read_size(times == std::string_view::npos ? text : text.substr(times + 1));
  if (!count || !bytes || *bytes > kMostBytes || *count == 0 || *count > kMostNumbers - out.size())
    return false;
  out.insert(out.end(), *count, *bytes);
  return true;
}

void read_items(std::string_view text, std::string_view separators, Counts& counts) {
  while (true) {
    const std::size_t begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) return;
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    if (!read_item(item, counts.numbers)) {
      throw BadInput(fmt::format(
          "{}: '{}' is no length of blocks: give bytes, at most 1T, or MEMBERSxBYTES, such as 64x1K",
          counts.argument, core::quoted(item)));
    }
    text.remove_prefix(end);
  }
}

void read_file(const std::string& name, Counts& counts) {
  std::error_code ignored;
  // Of a pipe or a device a read may never end.
  if (std::filesystem::exists(name, ignored) && !std::filesystem::is_regular_file(name, ignored))
    throw BadInput(fmt::format("{}: it is no file", counts.argument));
  std::ifstream file(name);
  if (!file) {
    throw BadInput(
        fmt::format("{}: it is no list such as 8,0,62x1K, there is no such file, and the rules are growing, "
                    "chance and one",
                    counts.argument));
  }
  for (std::string line; std::getline(file, line);)
    read_items(std::string_view(line).substr(0, line.find('#')), ", \t\r", counts);
}

void check_number(const Counts& counts, const coll::Shape& shape) {
  const std::uint64_t pairs = std::uint64_t{shape.ranks} * shape.ranks;
  const bool has_pairs = shape.operation == coll::Operation::all_to_all_v;
  const std::uint64_t given = counts.numbers.size();
  if (given == shape.ranks || (has_pairs && given == pairs)) return;
  throw BadInput(fmt::format("{} has {} numbers, but there are {} ranks: give one for each{}",
                             counts.argument, given, shape.ranks,
                             has_pairs ? fmt::format(", or {}, for each sender and receiver", pairs) : ""));
}

void check_elements(const Counts& counts, const coll::Shape& shape) {
  for (const std::uint64_t bytes : counts.numbers) {
    if (bytes % shape.element != 0) {
      throw BadInput(fmt::format("{}: {} bytes are no whole number of elements of {}", counts.argument, bytes,
                                 shape.element));
    }
  }
}

}  // namespace

Counts read_counts(const std::string& text) {
  Counts counts;
  counts.text = text;
  counts.argument = "--counts " + core::quoted(text);
  if (text == "growing") counts.rule = Counts::Rule::growing;
  if (text == "chance") counts.rule = Counts::Rule::chance;
  if (text == "one") counts.rule = Counts::Rule::one;
  if (counts.rule != Counts::Rule::none) return counts;
  counts.rule = Counts::Rule::numbers;
  if (!text.empty() && text.find_first_not_of("0123456789xKMGTkmgt,") == std::string::npos)
    read_items(text, ",", counts);
  else
    read_file(text, counts);
  if (counts.numbers.empty()) throw BadInput(fmt::format("{}: there are no numbers", counts.argument));
  return counts;
}

std::vector<std::uint64_t> lengths_for(const Counts& counts, const coll::Shape& shape, std::uint64_t seed) {
  if (!coll::has_counts(shape.operation)) {
    throw BadInput(fmt::format(
        "{}: {} has blocks of one length; scatter_v, gather_v, all_gather_v and all_to_all_v have others",
        counts.argument, coll::operation_word(shape.operation)));
  }
  const std::uint64_t most = shape.bytes / shape.element;
  const Rank ranks = shape.ranks;
  std::vector<std::uint64_t> out(ranks);
  switch (counts.rule) {
    case Counts::Rule::none: std::fill(out.begin(), out.end(), shape.bytes); break;
    case Counts::Rule::growing:
      for (Rank i = 0; i < ranks; ++i)
        out[i] = (ranks == 1 ? most : most / (ranks - 1) * i + most % (ranks - 1) * i / (ranks - 1)) *
                 shape.element;
      break;
    case Counts::Rule::chance:
      if (shape.operation == coll::Operation::all_to_all_v) {
        const std::uint64_t pairs = std::uint64_t{ranks} * ranks;
        sim::need_memory(pairs * sizeof(std::uint64_t), fmt::format("the blocks of {} pairs", pairs));
        out.resize(pairs);
      }
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = sim::by_chance(seed, i) % (most + 1) * shape.element;
      break;
    case Counts::Rule::one: out[(shape.root + 1) % ranks] = shape.bytes; break;
    case Counts::Rule::numbers:
      check_number(counts, shape);
      check_elements(counts, shape);
      out = counts.numbers;
      break;
  }
  return out;
}

}  // namespace aqueduct::aqsim
