#include "tools/aqinfo/collectives.hpp"

#include <nlohmann/json.hpp>

namespace aqueduct::aqinfo {
namespace {

using CollectivesJson = nlohmann::ordered_json;

CollectivesJson json_of_range(const ChoiceRange& range) {
  return {
      {"from", range.from},
      {"to", range.to},
      {"algorithm", range.algorithm.empty() ? CollectivesJson(nullptr) : CollectivesJson(range.algorithm)},
      {"piece_bytes", range.piece == 0 ? CollectivesJson(nullptr) : CollectivesJson(range.piece)},
      {"by", range.by},
      {"why", range.why.empty() ? CollectivesJson(nullptr) : CollectivesJson(range.why)},
  };
}

CollectivesJson json_of_collective(const CollectiveFacts& facts) {
  CollectivesJson cases = CollectivesJson::array();
  for (const ChoiceCase& one : facts.cases) {
    CollectivesJson ranges = CollectivesJson::array();
    for (const ChoiceRange& range : one.ranges) ranges.push_back(json_of_range(range));
    cases.push_back({{"one_host", one.one_host},
                     {"crowded", one.crowded},
                     {"addresses", one.single ? "single" : "local"},
                     {"ranges", std::move(ranges)}});
  }
  return {
      {"operation", facts.operation},
      {"variable", facts.variable},
      {"algorithms", facts.algorithms},
      {"cases", std::move(cases)},
  };
}

}  // namespace

std::string collectives_as_json(const std::vector<CollectiveFacts>& facts,
                                const CollectivesQuestion& question, const Config& config) {
  CollectivesJson all = CollectivesJson::array();
  for (const CollectiveFacts& one : facts) all.push_back(json_of_collective(one));
  CollectivesJson problems = CollectivesJson::array();
  for (const SettingProblem& problem : config.problems())
    problems.push_back({{"variable", problem.variable}, {"text", problem.text}});
  CollectivesJson object;
  object["ranks"] = question.ranks;
  object["processors"] = processors_of(question);
  object["collectives"] = std::move(all);
  object["problems"] = std::move(problems);
  return object.dump(2, ' ', false, CollectivesJson::error_handler_t::replace) + "\n";
}

}  // namespace aqueduct::aqinfo
