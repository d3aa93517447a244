#include "coll/tune/coll_settings.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/barrier_shape.hpp"
#include "core/nearest_name.hpp"
#include "core/setting_kinds.hpp"
#include "core/settings.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace aqueduct::coll {

namespace {

using core::setting::same_on_all_ranks;
using core::setting::text;

constexpr SettingInfo algorithm_of(std::string_view name, std::string_view variable, std::string_view help) {
  return same_on_all_ranks(text(name, variable, "auto", help));
}

// In the order of kOperationsWithSettings. Operations with one algorithm have none.
constexpr std::array kAlgorithmSettings{
    algorithm_of(
        "coll_barrier", "AQUEDUCT_COLL_BARRIER",
        "Algorithm of barriers that no conduit carries out by itself: auto, or one that aqinfo --collectives "
        "lists for all-reduces, such as multiplying:radix=4. Teams that cannot use it choose another."),
    algorithm_of("coll_broadcast", "AQUEDUCT_COLL_BROADCAST",
                 "Algorithm of broadcasts: auto, or one that aqinfo --collectives lists, such as "
                 "k-nomial:radix=8,segments=4."),
    algorithm_of("coll_scatter", "AQUEDUCT_COLL_SCATTER",
                 "Algorithm of scatters: auto, or one that aqinfo --collectives lists."),
    algorithm_of("coll_gather", "AQUEDUCT_COLL_GATHER",
                 "Algorithm of gathers: auto, or one that aqinfo --collectives lists."),
    algorithm_of("coll_all_gather", "AQUEDUCT_COLL_ALL_GATHER",
                 "Algorithm of all-gathers: auto, or one that aqinfo --collectives lists."),
    algorithm_of("coll_all_to_all", "AQUEDUCT_COLL_ALL_TO_ALL",
                 "Algorithm of all-to-alls: auto, or one that aqinfo --collectives lists."),
    algorithm_of("coll_reduce", "AQUEDUCT_COLL_REDUCE",
                 "Algorithm of reductions to a root: auto, or one that aqinfo --collectives lists."),
    algorithm_of("coll_all_reduce", "AQUEDUCT_COLL_ALL_REDUCE",
                 "Algorithm of all-reduces: auto, or one that aqinfo --collectives lists."),
    algorithm_of("coll_reduce_scatter", "AQUEDUCT_COLL_REDUCE_SCATTER",
                 "Algorithm of reduce-scatters: auto, or one that aqinfo --collectives lists."),
    algorithm_of("coll_scan", "AQUEDUCT_COLL_SCAN",
                 "Algorithm of scans: auto, or one that aqinfo --collectives lists."),
    algorithm_of("coll_exscan", "AQUEDUCT_COLL_EXSCAN",
                 "Algorithm of exclusive scans: auto, or one that aqinfo --collectives lists."),
    algorithm_of(
        "coll_all_gather_v", "AQUEDUCT_COLL_ALL_GATHER_V",
        "Algorithm of all-gathers whose blocks may differ: auto, or one that aqinfo --collectives lists."),
    algorithm_of(
        "coll_all_to_all_v", "AQUEDUCT_COLL_ALL_TO_ALL_V",
        "Algorithm of all-to-alls whose blocks may differ: auto, or one that aqinfo --collectives lists."),
};

constexpr std::array kOperationsWithSettings{
    Operation::barrier,        Operation::broadcast,  Operation::scatter, Operation::gather,
    Operation::all_gather,     Operation::all_to_all, Operation::reduce,  Operation::all_reduce,
    Operation::reduce_scatter, Operation::scan,       Operation::exscan,  Operation::all_gather_v,
    Operation::all_to_all_v,
};
static_assert(kOperationsWithSettings.size() == kAlgorithmSettings.size());

/// Takes the text before `mark` off the front of `rest`; all of it if there is no mark.
std::string_view take_until(std::string_view& rest, char mark) {
  const std::size_t end = rest.find(mark);
  const std::string_view front = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return front;
}

/// `native`: the one that leaves the operation to the team's conduit; null if it cannot be named.
std::string unknown_algorithm(Operation operation, const Algorithm* native, AddedSpan added,
                              std::string_view name) {
  core::NearestName nearest(name);
  nearest.offer("auto");
  std::string names = "auto";
  for (const Algorithm* const algorithm : KnownAlgorithms(added)) {
    if (algorithm->operation != operation) continue;
    nearest.offer(algorithm->name);
    names += fmt::format(", {}", algorithm->name);
  }
  for (const Algorithm& algorithm : board_algorithms()) {
    if (algorithm.operation != operation) continue;
    nearest.offer(algorithm.name);
    names += fmt::format(", {}", algorithm.name);
  }
  if (native != nullptr) {
    nearest.offer(native->name);
    names += fmt::format(", {}", native->name);
  }
  return fmt::format("there is no such algorithm; it may be {}{}", names, nearest.hint());
}

/// The parameters of an algorithm, in words: "radix (2 to 64) and segments (1 to 64)".
std::string parameter_list(const Algorithm& algorithm) {
  std::string list;
  for (const Parameter& one : algorithm.parameters)
    list += fmt::format("{}{} ({} to {})", list.empty() ? "" : " and ", one.name, one.least, one.most);
  return list.empty() ? std::string("no parameters") : list;
}

/// Which parameter a name means; the number of parameters if none.
std::size_t parameter_named(const Algorithm& algorithm, std::string_view name) {
  std::size_t i = 0;
  while (i < algorithm.parameters.size() && algorithm.parameters[i].name != name) ++i;
  return i;
}

/// Reads "8", the parameter at this place, or "radix=8". Returns what is wrong, or an empty string.
std::string read_parameter(const Algorithm& algorithm, std::size_t place, std::string_view word,
                           WantedParameters& wanted) {
  std::string_view number = word;
  if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
    const std::string_view name = word.substr(0, equals);
    number = word.substr(equals + 1);
    place = parameter_named(algorithm, name);
    if (place == algorithm.parameters.size()) {
      core::NearestName nearest(name);
      for (const Parameter& one : algorithm.parameters) nearest.offer(one.name);
      return fmt::format("{} has no parameter {}; it has {}{}", algorithm.name, core::quoted(name),
                         parameter_list(algorithm), nearest.hint());
    }
  }
  if (place >= algorithm.parameters.size())
    return fmt::format("{} has fewer parameters; it has {}", algorithm.name, parameter_list(algorithm));
  const Parameter& parameter = algorithm.parameters[place];
  if (wanted[place] != 0) return fmt::format("{} is given twice", parameter.name);
  std::uint32_t value = 0;
  const char* const end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < parameter.least || value > parameter.most)
    return fmt::format("{} may be a whole number from {} to {}", parameter.name, parameter.least,
                       parameter.most);
  wanted[place] = value;
  return {};
}

ForcedRead read_as(Operation operation, const Algorithm* native, std::string_view value, AddedSpan added) {
  ForcedRead out;
  if (value == "auto") return out;
  const bool has_parameters = value.find(':') != std::string_view::npos;
  std::string_view rest = value;
  const std::string_view name = take_until(rest, ':');
  const Algorithm* const algorithm = find_algorithm(operation, name, added);
  if (algorithm == nullptr || (algorithm->native && algorithm != native)) {
    out.problem = unknown_algorithm(operation, native, added, name);
    return out;
  }
  WantedParameters wanted{};
  if (has_parameters && rest.empty()) out.problem = "values of parameters are missing after the colon";
  for (std::size_t place = 0; !rest.empty() && out.problem.empty(); ++place) {
    const bool last = rest.find(',') == std::string_view::npos;
    out.problem = read_parameter(*algorithm, place, take_until(rest, ','), wanted);
    if (out.problem.empty() && rest.empty() && !last) out.problem = "a value is missing after the last comma";
  }
  if (out.problem.empty()) out.forced = {algorithm, wanted};
  return out;
}

}  // namespace

std::span<const SettingInfo> algorithm_settings() noexcept { return kAlgorithmSettings; }

Operation operation_of(const SettingInfo& info) noexcept {
  std::size_t i = 0;
  while (i + 1 < kAlgorithmSettings.size() && kAlgorithmSettings[i].name != info.name) ++i;
  return kOperationsWithSettings[i];
}

ForcedRead read_forced(Operation operation, std::string_view value, AddedSpan added) {
  return read_as(operation, native_algorithm(operation), value, added);
}

ForcedRead read_setting_of(Operation operation, std::string_view value, AddedSpan added) {
  // A conduit does not combine the votes of barriers, so they have no native algorithm.
  return read_as(carried_out_as(operation), native_algorithm(operation), value, added);
}

std::string algorithm_objection(const SettingInfo& info, std::string_view value, AddedSpan added) {
  for (std::size_t i = 0; i < kAlgorithmSettings.size(); ++i) {
    if (kAlgorithmSettings[i].name != info.name) continue;
    const std::string problem = read_setting_of(kOperationsWithSettings[i], value, added).problem;
    return problem.empty() ? problem
                           : fmt::format("{}={}: {}", info.environment, core::quoted(value), problem);
  }
  return {};
}

ForcedAlgorithms forced_algorithms(const Config& config) {
  ForcedAlgorithms forced{};
  for (std::size_t i = 0; i < kAlgorithmSettings.size(); ++i) {
    const Operation operation = kOperationsWithSettings[i];
    forced[static_cast<std::size_t>(operation)] =
        read_setting_of(operation, config.text(kAlgorithmSettings[i].name),
                        aqueduct::detail::algorithms_of(config.added_algorithms()))
            .forced;
  }
  return forced;
}

}  // namespace aqueduct::coll
