#include "coll/tune/candidates.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/rules.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::coll {

namespace {

/// 0: the usual one.
constexpr std::array kRadixesAfterTheTable{0u, 4u, 8u, 16u, 64u, 1024u};

}  // namespace

bool is_for_settings_alone(const Algorithm& algorithm) noexcept {
  return algorithm.reads || algorithm.team_tree;
}

// To the model, windows of puts into outputs are those of `direct` with more waits: it knows no queue that overflows. Ranked, they
// take the places of algorithms that a search would find to be better (Study.FindsChoicesWithinTheLimits).
bool is_outside_the_model(const Algorithm& algorithm) noexcept {
  return algorithm.native || algorithm.board != BoardMethod::none || &algorithm == &kAllToAllWindowed;
}

WantedParameters wanted_with_radix(const Algorithm& algorithm, std::uint32_t radix) noexcept {
  WantedParameters wanted{};
  if (radix == 0) return wanted;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const Parameter& parameter = algorithm.parameters[i];
    if (parameter.name == "radix") wanted[i] = std::clamp(radix, parameter.least, parameter.most);
  }
  return wanted;
}

namespace {

WantedParameters wanted_by(const Rule& rule, Rank ranks) noexcept {
  WantedParameters wanted = wanted_with_radix(*rule.algorithm, radix_of(rule, ranks));
  for (std::size_t i = 0; rule.window != 0 && i < rule.algorithm->parameters.size(); ++i) {
    if (rule.algorithm->parameters[i].name == "window") wanted[i] = rule.window;
  }
  return wanted;
}

}  // namespace

Candidate Candidates::next() noexcept {
  for (const auto rules = rules_of(shape_.operation); rule_ < rules.size();) {
    const Rule& rule = rules[rule_++];
    if (!applies(rule, shape_, team_)) continue;
    const Rank ranks = rule.algorithm->hosts ? team_.groups->count() : shape_.ranks;
    return {rule.algorithm, wanted_by(rule, ranks)};
  }
  for (const KnownAlgorithms all(team_.added); radix_ < kRadixesAfterTheTable.size();
       ++radix_, algorithm_ = 0) {
    while (algorithm_ < all.size()) {
      const Algorithm& algorithm = *all[algorithm_++];
      if (algorithm.operation == shape_.operation && !is_for_settings_alone(algorithm))
        return {&algorithm, wanted_with_radix(algorithm, kRadixesAfterTheTable[radix_])};
    }
  }
  return {};
}

}  // namespace aqueduct::coll
