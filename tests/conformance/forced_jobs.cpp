#include "tests/conformance/forced_jobs.hpp"

#include <algorithm>

namespace aqueduct::conformance {
namespace {

/// Values beside the usual one: the least, the most, and for a radix those around the number of ranks.
std::vector<std::uint32_t> awkward_values(const coll::Parameter& parameter, Rank ranks) {
  const bool segments = parameter.name == "segments";
  std::vector<std::uint32_t> values;
  for (const std::uint32_t value :
       {parameter.least, parameter.most, segments ? 7 : ranks - 1, segments ? 1 : ranks}) {
    // Segments that are not named go with the number of bytes, so even their usual number is a case of its own.
    const bool in_range = value >= parameter.least && value <= parameter.most;
    if (in_range && (segments || value != parameter.usual) && std::ranges::count(values, value) == 0)
      values.push_back(value);
  }
  return values;
}

/// The awkward choices of an algorithm. Two parameters take their values side by side, not each with each.
std::vector<ForcedChoice> awkward_choices(const coll::Algorithm& algorithm, Rank ranks) {
  std::vector<std::vector<std::uint32_t>> values;
  std::size_t most = 0;
  for (const coll::Parameter& parameter : algorithm.parameters) {
    values.push_back(awkward_values(parameter, ranks));
    most = std::max(most, values.back().size());
  }
  std::vector<ForcedChoice> choices(most, ForcedChoice{&algorithm, {}});
  for (std::size_t i = 0; i < most; ++i) {
    for (std::size_t p = 0; p < values.size(); ++p) {
      if (!values[p].empty()) choices[i].parameters[p] = values[p][(i + p) % values[p].size()];
    }
  }
  return choices;
}

}  // namespace

std::vector<ForcedJob> forced_jobs(std::span<const coll::Algorithm* const> algorithms, Rank ranks,
                                   bool awkward) {
  std::array<std::size_t, kForcedOperations> dealt{};
  std::vector<ForcedJob> jobs;
  for (const coll::Algorithm* const algorithm : algorithms) {
    const auto operation = static_cast<std::size_t>(algorithm->operation);
    if (operation >= kForcedOperations) continue;  // blocks that differ: collective_v_test.cpp
    std::vector<ForcedChoice> choices{{algorithm, {}}};
    if (awkward) choices = awkward_choices(*algorithm, ranks);
    for (const ForcedChoice& choice : choices) {
      const std::size_t job = dealt[operation]++;
      if (job == jobs.size()) jobs.emplace_back();
      jobs[job].choices[operation] = choice;
    }
  }
  return jobs;
}

}  // namespace aqueduct::conformance
