#pragma once

#include <aqueduct/config.hpp>

#include "coll/schedule/tree_recipe.hpp"
#include "core/log.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace aqueduct::coll {

/// AQUEDUCT_COLL_TREE: the tree that teams have for the algorithms `team-tree`. The same on all ranks.
///
/// `none`, the words of a TreeRecipe, or `file=PATH` of a file that has them.
std::span<const SettingInfo> tree_settings() noexcept;

/// A value, read, with the file that it names. `none` is no tree and no problem.
struct TreeRead {
  std::optional<TreeRecipe> recipe;
  std::string problem;
};
TreeRead read_tree(std::string_view value);

/// What is wrong with a value; empty if nothing is, or if `info` is another setting. For SettingCatalog::objection.
std::string tree_objection(const SettingInfo& info, std::string_view value);

/// What the setting asks for. No job starts with a wrong value; if its file has changed since, the log says so, and it counts
/// as `none`.
std::optional<TreeRecipe> tree_of_teams(const Config& config, core::Log& log);

}  // namespace aqueduct::coll
