#include "tools/aqinfo/collectives.hpp"
#include "tools/aqinfo/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduct::aqinfo {
namespace {

bool same_ranges(const ChoiceCase& a, const ChoiceCase& b) {
  return std::ranges::equal(a.ranges, b.ranges, [](const ChoiceRange& x, const ChoiceRange& y) {
    return x.from == y.from && x.to == y.to && x.algorithm == y.algorithm && x.piece == y.piece &&
           x.why == y.why && x.by == y.by;
  });
}

std::string_view case_words(const ChoiceCase& one) {
  if (one.one_host) return one.single ? "one host, all buffers known" : "one host, own buffers known";
  return one.single ? "several hosts, all buffers known" : "several hosts, own buffers known";
}

std::string sizes_text(const ChoiceRange& range) {
  if (range.to == 0) return {};  // a barrier
  if (range.from == range.to) return size_text(range.from);
  return fmt::format("{} to {}", size_text(range.from), size_text(range.to));
}

std::string choice_text(const ChoiceRange& range) {
  if (range.algorithm.empty()) return fmt::format("none: {}", range.why);
  std::string text = range.algorithm;
  if (range.piece != 0) text += fmt::format(", in pieces of {} of each block", size_text(range.piece));
  if (range.by != "rules") text += fmt::format(" (by {})", range.by);
  return text;
}

constexpr std::size_t kSizesColumn = 6;
constexpr std::size_t kSizesWidth = 24;

void show(std::string& out, const CollectiveFacts& facts) {
  std::string names;
  for (const std::string& name : facts.algorithms) names += (names.empty() ? "" : ", ") + name;
  out += fmt::format("{}\n  {}\n", facts.operation,
                     wrapped(fmt::format("{}: auto, {}", facts.variable, names), 2));
  std::vector<bool> shown(facts.cases.size());
  for (std::size_t i = 0; i < facts.cases.size(); ++i) {
    if (shown[i]) continue;
    // Cases with equal choices have one list.
    std::string heading;
    std::size_t alike = 0;
    for (std::size_t j = i; j < facts.cases.size(); ++j) {
      if (!same_ranges(facts.cases[i], facts.cases[j])) continue;
      shown[j] = true;
      heading += fmt::format("{}{}", alike++ == 0 ? "" : "; ", case_words(facts.cases[j]));
    }
    out += "    " + wrapped(alike == facts.cases.size() ? "everywhere" : heading, 4) + "\n";
    for (const ChoiceRange& range : facts.cases[i].ranges) {
      out += fmt::format("{:{}}{:<{}} ", "", kSizesColumn, sizes_text(range), kSizesWidth);
      out += wrapped(choice_text(range), kSizesColumn + kSizesWidth + 1) + "\n";
    }
  }
  out += "\n";
}

}  // namespace

std::string collectives_as_text(const std::vector<CollectiveFacts>& facts,
                                const CollectivesQuestion& question, const Config& config) {
  const std::uint32_t processors = processors_of(question);
  std::string out =
      fmt::format("Which algorithm runs in a team of {} member{}, on hosts of {} processor{}{}\n\n",
                  question.ranks, question.ranks == 1 ? "" : "s", processors, processors == 1 ? "" : "s",
                  question.ranks > processors ? ", which members of one host share" : "");
  for (const CollectiveFacts& one : facts) show(out, one);
  out += wrapped(
             "Sizes are those of a block: what the root of a broadcast sends, what a member contributes, "
             "what one member has for another. The sums are of double, with Sync::all at both ends. Other "
             "element types, orders, modes and teams with less memory can lead to other choices. Of "
             "several hosts, each has one member here, and the network is the one that this host would use. "
             "Barriers of smp on one host are those of the "
             "conduit. Choices are by rules unless a line says that they are by the model of a network "
             "profile, or by measurement: those of conduit smp on one host, and of the conduit that "
             "AQUEDUCT_CONDUIT names.",
             0) +
         "\n";
  if (config.problems().empty()) return out;
  out += "\nProblems: no job starts until these are fixed\n";
  for (const SettingProblem& problem : config.problems()) out += "  " + wrapped(problem.text, 2) + "\n";
  return out;
}

}  // namespace aqueduct::aqinfo
