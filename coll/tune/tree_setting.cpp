#include "coll/tune/tree_setting.hpp"

#include "core/nearest_name.hpp"
#include "core/setting_kinds.hpp"
#include "core/settings.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <sstream>

namespace aqueduct::coll {

namespace {

constexpr std::array kTreeSettings{core::setting::same_on_all_ranks(core::setting::text(
    "coll_tree", "AQUEDUCT_COLL_TREE", "none",
    "The tree of the algorithms team-tree: none; K-ary, K-nomial, flat, chain or fork:ROWxROWS; CLASS over "
    "CLASS, the second in portions (portion=N|hosts); order=hosts or a list; parents=LIST; or file=PATH."))};

}  // namespace

std::span<const SettingInfo> tree_settings() noexcept { return kTreeSettings; }

TreeRead read_tree(std::string_view value) {
  TreeRead out;
  if (value == "none") return out;
  std::string text(value);
  constexpr std::string_view kFile = "file=";
  if (value.substr(0, kFile.size()) == kFile) {
    const std::string path(value.substr(kFile.size()));
    std::ifstream file(path);
    std::ostringstream words;
    words << file.rdbuf();
    if (!file) {
      out.problem = fmt::format("the file {} cannot be read, or is empty", core::quoted(path));
      return out;
    }
    text = words.str();
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

std::optional<TreeRecipe> tree_of_teams(const Config& config) {
  return read_tree(config.text(kTreeSettings[0].name)).recipe;
}

}  // namespace aqueduct::coll
