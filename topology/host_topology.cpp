#include "topology/host_topology.hpp"

#include "core/mapping.hpp"
#include "core/setting_kinds.hpp"
#include "core/settings.hpp"
#include "core/signals.hpp"
#include "topology/shared_table.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::topology {
namespace {

using core::setting::same_on_all_ranks;
using core::setting::text;

constexpr std::array kTopologySettings{
    same_on_all_ranks(
        text("topology", "AQUEDUCT_TOPOLOGY", "auto",
             "Levels of memory: auto asks hwloc, none knows none. For tests: a topology in hwloc's words, "
             "such as 'package:4 core:8', or the path of an XML file; ranks take its processors in turn.")),
    same_on_all_ranks(text("places", "AQUEDUCT_PLACES", "",
                           "With a topology for tests: the processors of a host's ranks, such as 0,8,16-19; "
                           "further ranks begin again with the first.")),
};

const CpuSet kNoCpus;

}  // namespace

std::span<const SettingInfo> HostTopology::settings() noexcept { return kTopologySettings; }

HostTopology::HostTopology(EndpointState& state)
    : state_(state), source_(Source::of(state.config.text("topology"))) {}

Status HostTopology::check() {
  const std::string places = state_.config.text("places");
  std::vector<std::uint32_t> numbers;
  if (!places.empty() && !read_list(places, numbers)) {
    state_.log.error("AQUEDUCT_PLACES='{}' is no list of processors: write numbers and ranges, as 0,8,16-19",
                     core::quoted(places));
    return ErrorCode::bad_setting;
  }
  if (!places.empty() && !source_.pretends()) {
    state_.log.error(
        "AQUEDUCT_PLACES places ranks on a topology that AQUEDUCT_TOPOLOGY describes, and that is '{}': "
        "describe one, or bind ranks by `aqrun --bind`",
        core::quoted(state_.config.text("topology")));
    return ErrorCode::bad_setting;
  }
  if (!source_.pretends()) return {};
  const Table& read = table();
  if (!problem_.empty()) {
    state_.log.error("AQUEDUCT_TOPOLOGY: {}", problem_);
    return ErrorCode::bad_setting;
  }
  for (const std::uint32_t cpu : numbers) {
    if (std::ranges::binary_search(read.cpus(), cpu)) continue;
    state_.log.error("AQUEDUCT_PLACES: the topology has no processor {}: its processors are {}", cpu,
                     text_of(read.cpus()));
    return ErrorCode::bad_setting;
  }
  return {};
}

/// The memory in which the ranks of this host share what they know of it: the word of agreed_caches, and from the next line on
/// the table. Null if this host has no such memory.
std::byte* HostTopology::shared_memory() {
  if (state_.neighbours.empty() || state_.in_child()) return nullptr;
  const Rank first = state_.neighbours.front();
  const core::HiddenLayout part = core::hidden_layout_of(state_, first);
  if (part.table < core::HiddenLayout::kTable) return nullptr;
  return core::find_mapped(state_, {first, part.table_at, core::kSignalSegment}, part.table);
}

const Table& HostTopology::table() {
  if (read_) return table_;
  std::byte* const memory = shared_memory();
  std::byte* const of_table = memory == nullptr ? nullptr : memory + core::HiddenLayout::kLine;
  Reading reading = read_shared(of_table, core::HiddenLayout::kTable - core::HiddenLayout::kLine, [&] {
    Reading found = read_machine(source_);
    // Told before the table, for those that will find that.
    if (source_.pretends()) caches_ = agreed_caches(memory, [&] { return found.caches; });
    return found;
  });
  table_ = std::move(reading.table);
  problem_ = std::move(reading.problem);
  std::vector<CpuSet> cpus = places();  // reads the table, which the call below takes
  pretend(std::move(table_), std::move(cpus));
  if (!problem_.empty()) state_.log.info("collective operations know no levels of memory here: {}", problem_);
  return table_;
}

const Caches& HostTopology::caches() {
  if (caches_) return *caches_;
  if (source_.kind == Source::Kind::none) return caches_.emplace();
  if (source_.pretends()) table();
  // With a table from another rank, the word is there.
  if (!caches_) caches_ = agreed_caches(shared_memory(), [] { return read_system_caches(); });
  return *caches_;
}

std::vector<CpuSet> HostTopology::places() const {
  std::vector<CpuSet> cpus(state_.neighbours.size());
  if (source_.pretends()) {
    std::vector<std::uint32_t> places;
    if (!read_list(state_.config.text("places"), places)) places = table_.cpus();
    for (std::size_t i = 0; i < cpus.size() && !places.empty(); ++i) cpus[i] = {places[i % places.size()]};
  } else {
    for (std::size_t i = 0; i < cpus.size() && i < state_.cpus_of.size(); ++i)
      cpus[i] = read_set(state_.cpus_of[i]);
  }
  return cpus;
}

void HostTopology::pretend(Table table, std::vector<CpuSet> cpus) {
  std::vector<std::uint32_t> domains;
  for (const CpuSet& place : cpus) {
    for (std::size_t level = 0; level < table.levels().size(); ++level)
      domains.push_back(table.domain_of(level, place));
  }
  table_ = std::move(table);
  cpus_ = std::move(cpus);
  domain_ = std::move(domains);
  read_ = true;
}

namespace {

/// The index among the rising neighbours; their number for another rank.
std::size_t index_of(const EndpointState& state, Rank rank) {
  const auto found = std::ranges::lower_bound(state.neighbours, rank);
  const bool here = found != state.neighbours.end() && *found == rank;
  return here ? static_cast<std::size_t>(found - state.neighbours.begin()) : state.neighbours.size();
}

}  // namespace

const CpuSet& HostTopology::cpus_of(Rank rank) {
  table();
  const std::size_t index = index_of(state_, rank);
  return index < cpus_.size() ? cpus_[index] : kNoCpus;
}

std::uint32_t HostTopology::domain_of(Rank rank, std::size_t level) {
  if (rank >= state_.ranks) return kNowhere;
  if (level == 0) return state_.host_of[rank];
  const std::size_t levels = table().levels().size();
  const std::size_t index = index_of(state_, rank);
  return level < levels && index < cpus_.size() ? domain_[index * levels + level] : kNowhere;
}

Placement HostTopology::place(std::span<const Rank> members,
                              const std::function<Rank(Rank member)>& rank_of) {
  const Table& read = table();
  return Placement::of(members, read.levels(), [&](Rank member, std::size_t level) {
    return level == 0 ? 0 : domain_of(rank_of(member), level);
  });
}

std::vector<std::size_t> HostTopology::separating_levels() {
  std::vector<std::size_t> used;
  if (state_.neighbours.size() < state_.ranks) used.push_back(0);
  const Placement all = place(state_.neighbours, [](Rank rank) { return rank; });
  for (const Placement::Cut& cut : all.cuts()) used.push_back(cut.level);
  return used;
}

void HostTopology::warn_of_floating() {
  if (warned_) return;
  warned_ = true;
  const std::vector<Level>& levels = table().levels();
  if (state_.neighbours.empty() || state_.rank != state_.neighbours.front()) return;
  const auto wide = std::ranges::find_if(levels, [](const Level& level) { return level.memory; });
  if (wide == levels.end()) return;
  const auto level = static_cast<std::size_t>(wide - levels.begin());
  const auto floats = [&](Rank rank) { return domain_of(rank, level) == kNowhere; };
  const auto count = std::ranges::count_if(state_.neighbours, floats);
  if (count == 0) return;
  state_.log.warn(
      "{} of {} ranks of this host, rank {} among them, are not bound to one of its {} domains of memory "
      "({}), so "
      "collective operations cannot keep to these: bind ranks, as by `aqrun --bind core` or the launcher's "
      "own option, or "
      "set AQUEDUCT_TOPOLOGY=none",
      count, state_.neighbours.size(), *std::ranges::find_if(state_.neighbours, floats), wide->domains,
      wide->name);
}

}  // namespace aqueduct::topology
