#include "coll/tune/learned_decisions.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::coll {

LearnedDecisions::OfPlace& LearnedDecisions::of(const TuningPlace& place) {
  const auto found = std::ranges::find_if(places_, [&](const OfPlace& one) { return one.place == place; });
  return found != places_.end() ? *found : places_.emplace_back(OfPlace{place, {}});
}

void LearnedDecisions::add(const TuningPlace& place, std::span<const Decision> decisions) {
  if (decisions.empty()) return;
  OfPlace& mine = of(place);
  for (const Decision& one : decisions) mine.decisions.insert_or_assign(one.key, one);
}

void LearnedDecisions::add(const LearnedDecisions& others) {
  for (const OfPlace& theirs : others.places_) {
    OfPlace& mine = of(theirs.place);
    for (const auto& [key, decision] : theirs.decisions) mine.decisions.insert_or_assign(key, decision);
  }
}

std::vector<std::string> LearnedDecisions::save(const std::string& named, std::chrono::milliseconds patience,
                                                AddedSpan added) const {
  std::vector<std::string> problems;
  for (const OfPlace& one : places_) {
    std::vector<Decision> all;
    for (const auto& [key, decision] : one.decisions) all.push_back(decision);
    std::string problem = save_tuning(tuning_file(named, one.place), one.place, all,
                                      problems.empty() ? patience : std::chrono::milliseconds(0), added);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace aqueduct::coll
