#include "tools/aqsim/run.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"
#include "runtime/memory_room.hpp"
#include "sim/free_memory.hpp"
#include "sim/member_counts.hpp"
#include "sim/output_file.hpp"
#include "sim/plot.hpp"
#include "sim/trace.hpp"
#include "tools/aqsim/printer.hpp"
#include "tools/aqsim/profile.hpp"
#include "tools/aqsim/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace aqueduct::aqsim {

using sim::BadInput;

namespace {

coll::Picoseconds picoseconds(double us) { return static_cast<coll::Picoseconds>(std::llround(us * 1e6)); }

/// What a rank needs at least, with its place on a host: checked before anything is made for each rank.
constexpr std::uint64_t kLeastBytesOfRank = sizeof(coll::ReplayedMember) + 4 * sizeof(Rank);

/// What this process may still take: of the machine, its control group and its limit of addresses. At least 1, since 0 stands
/// for no limit.
std::uint64_t memory_room() {
  const std::uint64_t free = sim::free_memory();
  const std::uint64_t of_group = std::max<std::uint64_t>(runtime::cgroup_room(), 1);
  return free == 0 ? of_group : std::min(free, of_group);
}

/// So much scratch that nothing is cut into pieces.
coll::ScratchLayout ample(Rank ranks) {
  return coll::ScratchLayout({.banks = 2, .counters = 65535, .bytes = std::uint64_t{1} << 50}, ranks);
}

/// For `--algorithm all`: the usual ones. Of `hosts` those of the table, since not every radix goes with the number of hosts.
std::optional<coll::WantedParameters> wanted_among_all(const coll::Algorithm& algorithm) {
  return algorithm.hosts ? std::nullopt : std::optional<coll::WantedParameters>(coll::WantedParameters{});
}

/// `wanted`: the algorithm's parameters; nothing: those of the table.
Chosen with_parameters(const coll::Algorithm& algorithm, const std::optional<coll::WantedParameters>& wanted,
                       coll::Shape shape, bool single, const coll::TeamTraits& team) {
  shape.addresses = single || algorithm.direct ? coll::Addresses::single : coll::Addresses::local;
  const coll::Fit fit = wanted ? coll::fit_or_cut(algorithm, *wanted, shape, team, ample(shape.ranks))
                               : coll::fit_with_any(algorithm, shape, team, ample(shape.ranks));
  if (fit.refusal != nullptr) {
    throw BadInput(fmt::format("{} {} of {} ranks and {} bytes: {}{}", coll::operation_word(shape.operation),
                               algorithm.name, shape.ranks, shape.bytes, fit.refusal,
                               algorithm.hosts && team.groups == nullptr
                                   ? "; --ranks-per-host N or --hosts LIST groups them"
                               : algorithm.team_tree && team.tree == nullptr ? "; --tree gives one"
                                                                             : ""));
  }
  return {&algorithm, fit.shape};
}

sim::Network network_for(const Options& options, Rank ranks) {
  const sim::HostList hosts = hosts_for(options, ranks);
  sim::Network network = options.profile.empty() ? sim::load_network(options.network, ranks, hosts)
                                                 : load_profile(options.profile, hosts);
  if (options.cores != 0) network.machine.cores = options.cores;
  if (options.cores != 0 && ranks > 1 && network.machine.hosts(ranks) == ranks) {
    fmt::print(
        stderr,
        "aqsim: --cores {} changes nothing, since each rank has a host of its own; --ranks-per-host N or "
        "--hosts LIST lets ranks share one\n",
        options.cores);
  }
  if (options.mixed) sim::mix_on_hosts(network.machine, ranks, options.seed);
  return network;
}

/// Blocks as --counts says; none: all are equally long.
std::unique_ptr<const sim::MemberCounts> counts_for(const Options& options, const coll::Shape& shape) {
  if (options.counts.rule == Counts::Rule::none) return nullptr;
  return std::make_unique<sim::MemberCounts>(shape, lengths_for(options.counts, shape, options.seed));
}

sim::Outcome simulate_one(const Options& options, const Chosen& chosen, const sim::Network& network,
                          const sim::MemberCounts* counts) {
  sim::Job job;
  if (counts != nullptr) job.blocks = counts->views();
  job.algorithm = chosen.algorithm;
  job.shape = chosen.shape;
  job.times = options.times;
  job.in_flight = options.in_flight;
  job.compute = picoseconds(options.compute_us);
  if (options.late_us > 0)
    job.calls = sim::late_calls(chosen.shape.ranks, picoseconds(options.late_us), options.seed);
  job.detours = {picoseconds(options.noise_period_us), picoseconds(options.noise_us), options.seed};
  job.seed = options.seed;
  job.most_messages = options.most_messages;
  job.one_by_one = options.one_by_one;
  job.most_memory = memory_room();
  std::optional<sim::Trace> trace;
  if (!options.trace.empty()) {
    trace.emplace(options.trace);
    job.watcher = &*trace;
  }
  sim::Outcome outcome = sim::simulate(job, network);
  if (trace) {
    if (const std::string problem = trace->end(outcome.replayed); !problem.empty()) throw BadInput(problem);
  }
  return outcome;
}

}  // namespace

std::vector<Chosen> choose(const Options& options, coll::Shape shape, const coll::TeamTraits& team) {
  shape.addresses = options.single ? coll::Addresses::single : coll::Addresses::local;
  if (options.algorithm == "all") {
    std::vector<Chosen> out;
    for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
      if (algorithm->operation != shape.operation) continue;
      try {
        out.push_back(with_parameters(*algorithm, wanted_among_all(*algorithm), shape, options.single, team));
      } catch (const BadInput&) {
        // It is for other shapes.
      }
    }
    if (out.empty()) throw BadInput("no algorithm can do this");
    return out;
  }
  const coll::ForcedRead read = coll::read_forced(shape.operation, options.algorithm);
  if (!read.problem.empty())
    throw BadInput(fmt::format("--algorithm {}: {}", options.algorithm, read.problem));
  if (read.forced.algorithm != nullptr)
    return {with_parameters(*read.forced.algorithm, read.forced.wanted, shape, options.single, team)};
  const coll::Choice choice = coll::TableChooser().choose(shape, team, ample(shape.ranks));
  if (choice.algorithm == nullptr) throw BadInput(std::string(choice.why));
  return {{choice.algorithm, choice.shape}};
}

int run(const Options& options) {
  const coll::Operation operation = read_operation(options.operation);
  const bool moves = operation != coll::Operation::barrier;
  if (!options.trace.empty() &&
      (options.ranks.size() > 1 || (moves && options.bytes.size() > 1) || options.algorithm == "all"))
    throw BadInput("--trace is for one simulation: give one number of ranks, one of bytes and one algorithm");
  for (const std::string& problem :
       {options.plot.empty() ? std::string() : sim::plot_problem(options.plot),
        options.trace.empty() ? std::string() : sim::output_problem("trace", options.trace)}) {
    if (!problem.empty()) throw BadInput(problem);
  }
  Printer printer(options);
  std::size_t without_row = 0;
  for (const Rank ranks : options.ranks) {
    sim::check_ranks(ranks, memory_room(), [](Rank count) { return count * kLeastBytesOfRank; });
    const sim::Network network = network_for(options, ranks);
    const SimulatedTeam team(network.machine, ranks, options.tree);
    for (const std::uint64_t bytes : moves ? options.bytes : std::vector<std::uint64_t>{0}) {
      coll::Shape shape;
      shape.operation = operation;
      shape.in = options.in;
      shape.out = options.out;
      shape.ranks = ranks;
      shape.root = options.root;
      shape.element = options.element;
      shape.bytes = shape.pitch = bytes;
      if (options.root >= ranks)
        throw BadInput(fmt::format("--root {}: there are {} ranks", options.root, ranks));
      if (bytes % options.element != 0)
        throw BadInput(fmt::format("{} bytes are no whole number of elements of {}", bytes, options.element));
      const std::unique_ptr<const sim::MemberCounts> counts = counts_for(options, shape);
      if (counts) shape.bytes = shape.pitch = counts->longest();  // as the library chooses
      bool has_row = false;
      for (const Chosen& chosen : choose(options, shape, team.traits())) {
        try {
          printer.row(chosen, network, simulate_one(options, chosen, network, counts.get()));
          has_row = true;
        } catch (const BadInput& problem) {
          if (options.algorithm != "all") throw;
          fmt::print(stderr, "aqsim: {}: {}\n", chosen.algorithm->name, problem.what());
        }
      }
      without_row += has_row ? 0 : 1;
    }
  }
  if (!options.plot.empty() && printer.has_rows()) printer.plot();
  if (without_row != 0) {
    throw BadInput(fmt::format(
        "no algorithm could be simulated for {} of the sizes and numbers of ranks; the lines above say why",
        without_row));
  }
  return 0;
}

}  // namespace aqueduct::aqsim
