#include "coll/tune/tree_setting.hpp"

#include "core/nearest_name.hpp"
#include "core/setting_kinds.hpp"
#include "core/settings.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace aqueduct::coll {

namespace {

constexpr std::array kTreeSettings{core::setting::same_on_all_ranks(core::setting::text(
    "coll_tree", "AQUEDUCT_COLL_TREE", "none",
    "The tree of the algorithms team-tree: none; K-ary, K-nomial, flat, chain or fork:ROWxROWS; CLASS over "
    "CLASS, the second in portions (portion=N|hosts); order=hosts or a list; parents=LIST; or file=PATH."))};

/// Chosen: a list of a million members is shorter.
constexpr std::uintmax_t kMostInFile = std::uintmax_t{8} << 20;

/// What is in a regular file. May throw std::bad_alloc.
std::string read_file(const std::string& path, std::string& problem) {
  std::error_code ignored;
  std::ifstream file;
  // Opening a pipe would wait for its writer, and a device may have no end.
  if (std::filesystem::is_regular_file(path, ignored)) file.open(path, std::ios::binary);
  const std::uintmax_t bytes = file.is_open() ? std::filesystem::file_size(path, ignored) : 0;
  if (bytes > kMostInFile) {
    problem = fmt::format("the file {} has {} bytes, and {} are the most that are read", core::quoted(path),
                          bytes, kMostInFile);
    return {};
  }
  std::ostringstream words;
  words << file.rdbuf();
  if (!file.is_open() || !words || bytes == 0)
    problem = fmt::format("the file {} cannot be read, is empty, or is no regular file", core::quoted(path));
  return words.str();
}

}  // namespace

std::span<const SettingInfo> tree_settings() noexcept { return kTreeSettings; }

TreeRead read_tree(std::string_view value) {
  TreeRead out;
  if (value == "none") return out;
  std::string text(value);
  constexpr std::string_view kFile = "file=";
  if (value.substr(0, kFile.size()) == kFile) {
    const std::string path(value.substr(kFile.size()));
    text = read_file(path, out.problem);
    if (!out.problem.empty()) return out;
  }
  RecipeRead read = read_tree_recipe(text);
  out.problem = std::move(read.problem);
  if (out.problem.empty()) out.recipe = std::move(read.recipe);
  return out;
}

std::string tree_objection(const SettingInfo& info, std::string_view value) {
  if (info.name != kTreeSettings[0].name) return {};
  const std::string problem = read_tree(value).problem;
  return problem.empty() ? problem : fmt::format("{}={}: {}", info.environment, core::quoted(value), problem);
}

std::optional<TreeRecipe> tree_of_teams(const Config& config, core::Log& log) {
  TreeRead read = read_tree(config.text(kTreeSettings[0].name));
  if (!read.problem.empty())  // it was in order when the setting was read
    log.error("{}: {}; teams of this rank have no tree", kTreeSettings[0].environment, read.problem);
  return std::move(read.recipe);
}

}  // namespace aqueduct::coll
