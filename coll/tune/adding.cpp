#include "coll/tune/adding.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/added_samples.hpp"
#include "coll/tune/operation_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace aqueduct::coll {

namespace {

/// Chosen: each takes part in the searches of its operation.
constexpr std::size_t kMostAdded = 32;
constexpr std::size_t kMostLetters = 40;
constexpr std::string_view kNames = "a name has 1 to 40 small letters, digits, '-' and '_'";

/// A setting names it, with `:`, `=` and `,` behind it.
bool is_name(std::string_view name) noexcept {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= kMostLetters && std::all_of(name.begin(), name.end(), is_good);
}

std::string wrong_parameters(const CollectiveAlgorithm& given) {
  if (given.parameters.size() > Shape{}.parameters.size())
    return fmt::format("it has {} parameters, and may have {}", given.parameters.size(),
                       Shape{}.parameters.size());
  std::set<std::string_view> names;
  for (const AlgorithmParameter& one : given.parameters) {
    if (!is_name(one.name)) return fmt::format("the name of a parameter is none: {}", kNames);
    if (!names.insert(one.name).second) return fmt::format("two parameters are called {}", one.name);
    if (one.least == 0 || one.least > one.usual || one.usual > one.most)
      return fmt::format("parameter {}: from {} to {}, usually {}, is no range: 1 <= least <= usual <= most",
                         one.name, one.least, one.most, one.usual);
  }
  return {};
}

std::string problem_of(const CollectiveAlgorithm& given, AddedSpan before) {
  if (given.operation < Operation::broadcast || given.operation > Operation::exscan)
    return "only operations from broadcast to exscan take algorithms of the program's";
  if (!is_name(given.name)) return std::string(kNames);
  if (given.name == "auto" || given.name == "native" ||
      find_algorithm(given.operation, given.name, before) != nullptr)
    return "there is one of this name; choose another name";
  if (before.size() == kMostAdded) return fmt::format("{} are there, which are the most", kMostAdded);
  if (given.needs == nullptr || given.cost == nullptr || given.build == nullptr)
    return "it lacks a function: set `needs`, `cost` and `build`";
  if (std::string problem = wrong_parameters(given); !problem.empty()) return problem;
  return wrong_samples(AddedAlgorithm(given));
}

}  // namespace

std::string objection_to(const CollectiveAlgorithm& given, AddedSpan before) {
  const std::string problem = problem_of(given, before);
  if (problem.empty()) return problem;
  return fmt::format("the algorithm {} for {} cannot be added: {}",
                     is_name(given.name) ? given.name : std::string("without a good name"),
                     operation_word(given.operation), problem);
}

std::string text_of(const AddedAlgorithm& added) {
  std::string parameters;
  for (const Parameter& one : added.parameters)
    parameters += fmt::format("{}{} {} to {}, usually {}", parameters.empty() ? " (" : "; ", one.name,
                              one.least, one.most, one.usual);
  return fmt::format("{} {}{}{}, steps {:016x}", operation_word(added.given.operation), added.given.name,
                     parameters, parameters.empty() ? "" : ")", hash_of_samples(added));
}

}  // namespace aqueduct::coll
