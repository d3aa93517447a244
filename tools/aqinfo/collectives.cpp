#include "tools/aqinfo/collectives.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/team_offers.hpp"
#include "coll/tune/barrier_shape.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"
#include "coll/tune/tuned_chooser.hpp"
#include "core/hidden_layout.hpp"
#include "core/settings.hpp"
#include "tools/aqinfo/facts.hpp"
#include "tools/aqinfo/machine.hpp"
#include "tools/aqinfo/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace aqueduct::aqinfo {
namespace {

constexpr std::uint64_t kLeastBytes = 8;
constexpr std::uint64_t kMostBytes = 64 << 20;
constexpr std::uint32_t kBytesOfDouble = 8;

/// The sizes of the question for an operation: a barrier has none.
std::vector<std::uint64_t> sizes_of(const CollectivesQuestion& question, coll::Operation operation) {
  if (operation == coll::Operation::barrier) return {0};
  if (!question.bytes.empty()) return question.bytes;
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = kLeastBytes; bytes <= kMostBytes; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

/// What the team of all ranks of a job has. Members that map each other's memory have a board.
struct TeamMemory {
  coll::BoardRoom board;
  coll::ScratchSizes scratch;
};
TeamMemory memory_of_world(const Config& config, Rank ranks, bool mapped, bool crowded) {
  core::HiddenSizes sizes = core::HiddenSizes::of(config);
  if (mapped) sizes.add_board();  // as where one conduit serves all ranks of one host
  const coll::ScratchRoom room = coll::world_room(sizes, ranks);
  TeamMemory out;
  if (mapped && ranks > 1) out.board = coll::board_within(room.bytes, coll::least_room(ranks).bytes, crowded);
  const coll::ScratchSizes least = coll::least_scratch(ranks);
  out.scratch =
      coll::ScratchLayout::sizes_within(room.bytes - coll::taken_by(out.board), room.counters, ranks)
          .value_or(least);
  return out;
}

/// The name with all parameters but `segments`.
std::string name_in_range(const coll::Choice& choice) {
  std::string text(choice.algorithm->name);
  char mark = ':';
  for (std::size_t i = 0; i < choice.algorithm->parameters.size(); ++i) {
    const coll::Parameter& parameter = choice.algorithm->parameters[i];
    if (parameter.name == "segments") continue;
    text += fmt::format("{}{}={}", mark, parameter.name, choice.shape.parameters[i]);
    mark = ',';
  }
  return text;
}

std::string_view word_of(coll::ChosenBy by) noexcept {
  switch (by) {
    case coll::ChosenBy::rules: return "rules";
    case coll::ChosenBy::model: return "model";
    case coll::ChosenBy::measurement: return "measurement";
  }
  return "rules";
}

ChoiceRange range_of(std::uint64_t bytes, const coll::Choice& choice) {
  ChoiceRange range{bytes, bytes, {}, 0, {}, word_of(choice.by)};
  if (choice.algorithm == nullptr) {
    range.why = choice.why;
    return range;
  }
  range.algorithm = name_in_range(choice);
  if (choice.piece < bytes) range.piece = choice.piece;
  return range;
}

bool same_choice(const ChoiceRange& a, const ChoiceRange& b) {
  return a.algorithm == b.algorithm && a.piece == b.piece && a.why == b.why && a.by == b.by;
}

ChoiceCase case_of(const coll::TunedChooser& chooser, const Config& config,
                   const CollectivesQuestion& question, coll::Operation operation, bool one_host,
                   bool single) {
  // Of several hosts, how many members each has is not known.
  const bool crowded = one_host && question.ranks > processors_of(question);
  ChoiceCase out{one_host, single, crowded, {}};
  const bool mapped = one_host && config.text("near") != "off";
  const TeamMemory memory = memory_of_world(config, question.ranks, mapped, crowded);
  const coll::TeamTraits team{.ranks = question.ranks,
                              .one_host = one_host,
                              .mapped = mapped,
                              .sockets = !mapped && question.sockets,
                              .crowded = crowded,
                              .board = memory.board};
  const coll::ScratchLayout scratch(memory.scratch, question.ranks);
  for (const std::uint64_t bytes : sizes_of(question, operation)) {
    coll::Shape shape;
    shape.operation = operation;
    shape.addresses = single ? coll::Addresses::single : coll::Addresses::local;
    shape.ranks = question.ranks;
    shape.element = bytes > 0 && bytes % kBytesOfDouble == 0 ? kBytesOfDouble : 1;
    shape.bytes = shape.pitch = bytes;
    const bool barrier = operation == coll::Operation::barrier;
    ChoiceRange range = range_of(
        bytes, barrier ? chooser.choose_barrier(team, scratch) : chooser.choose(shape, team, scratch));
    if (!out.ranges.empty() && same_choice(out.ranges.back(), range)) {
      out.ranges.back().to = bytes;
    } else {
      out.ranges.push_back(std::move(range));
    }
  }
  return out;
}

/// What the setting of an operation may name.
std::vector<std::string> algorithms_of(coll::Operation of_setting) {
  const coll::Operation operation = coll::carried_out_as(of_setting);
  std::vector<std::string> names;
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    if (algorithm->operation != operation) continue;
    std::string name(algorithm->name);
    char mark = ':';
    for (const coll::Parameter& one : algorithm->parameters) {
      name += fmt::format("{}{}={}..{}", mark, one.name, one.least, one.most);
      mark = ',';
    }
    names.push_back(std::move(name));
  }
  // Those of a board: whether a team has one depends on its members, and Team::explain says so.
  for (const coll::Algorithm& algorithm : coll::board_algorithms()) {
    if (algorithm.operation != operation) continue;
    std::string name(algorithm.name);
    char mark = ':';
    for (const coll::Parameter& one : algorithm.parameters) {
      name += fmt::format("{}{}={}..{}", mark, one.name, one.least, one.most);
      mark = ',';
    }
    names.push_back(std::move(name));
  }
  // Whether a team has it depends on its conduit: Team::explain says so.
  if (const coll::Algorithm* const native = coll::native_algorithm(of_setting))
    names.emplace_back(native->name);
  return names;
}

}  // namespace

std::uint32_t processors_of(const CollectivesQuestion& question) {
  return question.processors != 0 ? question.processors : look_at_machine().cores;
}

std::vector<CollectiveFacts> gather_collectives(const Config& config, const CollectivesQuestion& asked) {
  CollectivesQuestion question = asked;
  question.processors = processors_of(asked);
  question.sockets = goes_through_sockets(config);
  const coll::TableChooser rules(coll::forced_algorithms(config));
  const coll::TunedChooser chooser(
      rules, std::make_shared<const coll::TuningTable>(tuning_here(config, question.ranks)));
  std::vector<CollectiveFacts> all;
  for (const SettingInfo& setting : coll::algorithm_settings()) {
    const coll::Operation operation = coll::operation_of(setting);
    CollectiveFacts facts{coll::operation_word(operation), setting.environment, algorithms_of(operation), {}};
    for (const bool one_host : {true, false}) {
      for (const bool single : {true, false})
        facts.cases.push_back(case_of(chooser, config, question, operation, one_host, single));
    }
    all.push_back(std::move(facts));
  }
  return all;
}

std::string read_byte_list(std::string_view list, std::vector<std::uint64_t>& bytes) {
  // The units are those of a setting in bytes.
  constexpr SettingInfo kInfo{"bytes", "--bytes", SettingType::bytes,   "bytes", "",
                              "",      0,         std::int64_t{1} << 40};
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const core::SettingValue value = core::read_setting(kInfo, list.substr(0, comma));
    if (!value.problem.empty()) return value.problem;
    bytes.push_back(static_cast<std::uint64_t>(value.number));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  std::ranges::sort(bytes);
  bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
  return {};
}

}  // namespace aqueduct::aqinfo
