#include "tools/aqsim/run.hpp"
#include "tools/given_value.hpp"
#include "tools/standard_output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <new>
#include <system_error>

// aqsim: runs the schedules of collectives in virtual time, on modelled networks of any size. See docs/simulator.md.

namespace aqueduct::aqsim {
namespace {

void show_networks() {
  for (const sim::BuiltIn& one : sim::built_in_networks()) fmt::print("{:<18} {}\n", one.name, one.what);
}

}  // namespace
}  // namespace aqueduct::aqsim

static int run_tool(int argc, char** argv) {
  using aqueduct::aqsim::Options;
  using aqueduct::tools::given_value;
  Options options;
  CLI::App app(
      "Runs the schedule of a collective operation in virtual time, on a modelled network.\n"
      "  aqsim barrier --ranks 32768\n"
      "  aqsim all_to_all --ranks 1K --bytes 8:4K --algorithm bruck:8 --network torus --json\n"
      "  aqsim broadcast --ranks 16:16K --algorithm all --plot broadcast.html\n"
      "  aqsim curves      the curves of the source beside ours");
  bool networks = false;
  std::string ranks;
  std::string bytes;
  std::string counts;
  std::string sync;
  std::string noise;
  std::string hosts;
  std::string tree;
  app.add_option("operation", options.operation, "broadcast, all_reduce, … or curves")->type_name("OP");
  app.add_option("--ranks", ranks, "members, or A:B for the powers of two times A up to B")
      ->check(given_value())
      ->type_name("P")
      ->default_str("64");
  app.add_option("--bytes", bytes, "of a block, likewise")
      ->check(given_value())
      ->type_name("A:B")
      ->default_str("8");
  app.add_option("--counts", counts,
                 "of scatter_v, gather_v, all_gather_v, all_to_all_v: growing, chance or one (up to "
                 "--bytes), bytes of "
                 "each member's block such as 8,0,62x1K, or a file of such numbers")
      ->check(given_value())
      ->type_name("RULE|LIST|FILE");
  app.add_option("--algorithm", options.algorithm,
                 "such as k-nomial:4; auto: the library's choice; all: each that can do it")
      ->type_name("NAME:PARAM")
      ->capture_default_str();
  app.add_option("--network", options.network, "a network by name (--networks), or a file")
      ->type_name("FILE|NAME")
      ->capture_default_str();
  app.add_option("--profile", options.profile,
                 "what `aqperf calibrate` has measured on this machine, in place of a network")
      ->type_name("FILE");
  app.add_option("--cores", options.cores, "processors that the ranks of a host share, if there are fewer")
      ->check(CLI::Range(1U, 1U << 20))
      ->type_name("N");
  auto* const per_host =
      app.add_option("--ranks-per-host", options.ranks_per_host,
                     "so many neighbouring ranks share a host; the last host may have fewer")
          ->check(CLI::Range(1U, 1U << 28))
          ->type_name("N");
  app.add_option("--hosts", hosts, "ranks of each host, such as 8,8,3; 64x8,3: of 64 hosts, and of one more")
      ->excludes(per_host)
      ->check(given_value())
      ->type_name("LIST");
  app.add_flag("--networks", networks, "lists the networks by name");
  app.add_option("--sync", sync, "sync modes: none, mine or all, before and after")
      ->check(given_value())
      ->type_name("IN:OUT")
      ->default_str("all:all");
  app.add_flag("--single", options.single,
               "all members know all buffers, so that they may be accessed directly");
  app.add_option("--tree", tree,
                 "the tree of the algorithms team-tree, as AQUEDUCT_COLL_TREE, such as '2-nomial over 4-ary'")
      ->check(given_value())
      ->type_name("TREE");
  app.add_option("--root", options.root, "the root")->check(given_value())->capture_default_str();
  app.add_option("--element", options.element, "bytes of an element")
      ->check(CLI::Range(1U, 4096U))
      ->capture_default_str();
  app.add_option("--times", options.times, "calls of each member, one after the other")
      ->check(CLI::Range(1U, 200U))
      ->capture_default_str();
  app.add_flag("--in-flight", options.in_flight, "all calls at once");
  app.add_option("--compute", options.compute_us, "microseconds of computing between two calls")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--late", options.late_us, "members call up to so many microseconds late, by chance")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--noise", noise, "each processor stops so many microseconds in every period")
      ->check(given_value())
      ->type_name("PERIOD:LENGTH");
  app.add_option("--seed", options.seed, "of all that goes by chance")
      ->check(given_value())
      ->capture_default_str();
  app.add_flag("--idle", options.idle, "the idle time of ranks");
  app.add_option("--links", options.links, "the N links that have carried most")
      ->check(CLI::Range(1U, 1U << 30))
      ->type_name("N");
  app.add_option("--trace", options.trace, "a Chrome trace of the simulation, for Perfetto")
      ->type_name("FILE");
  app.add_option("--plot", options.plot, "time against bytes and ranks, as .svg or .html")->type_name("FILE");
  app.add_option("--most-messages", options.most_messages,
                 "refuses to simulate more messages one by one; 0: no limit")
      ->check(given_value())
      ->capture_default_str();
  app.add_flag("--one-by-one", options.one_by_one, "an event for each message, also where less is as exact");
  app.add_flag("--json", options.json, "a line of JSON for each simulation");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // --help arrives here too; 2: wrong usage, as of all tools
  }
  try {
    if (networks) {
      aqueduct::aqsim::show_networks();
      return 0;
    }
    if (!std::isfinite(options.compute_us) || !std::isfinite(options.late_us))
      throw aqueduct::sim::BadInput("--compute and --late are numbers of microseconds from 0 to 1e9");
    if (options.operation.empty())
      throw aqueduct::sim::BadInput("which operation? Such as: aqsim barrier --ranks 1024");
    if (options.operation == "curves") return aqueduct::aqsim::curves(options.json);
    if (!hosts.empty()) aqueduct::aqsim::read_hosts(hosts, options);
    if (!counts.empty()) {
      options.counts = aqueduct::aqsim::read_counts(counts);
      if (options.counts.rule == aqueduct::aqsim::Counts::Rule::numbers) {
        if (!bytes.empty())
          throw aqueduct::sim::BadInput("the numbers of --counts are bytes: leave out --bytes");
        if (hosts.empty()) options.ranks = {static_cast<aqueduct::Rank>(options.counts.numbers.size())};
      }
    }
    if (!ranks.empty()) {
      options.ranks.clear();
      for (const std::uint64_t value : aqueduct::aqsim::read_range(ranks, "ranks", 1U << 28))
        options.ranks.push_back(static_cast<aqueduct::Rank>(value));
      if (options.ranks.front() == 0) throw aqueduct::sim::BadInput("there is at least one rank");
    }
    if (!bytes.empty()) options.bytes = aqueduct::aqsim::read_range(bytes, "bytes", std::uint64_t{1} << 40);
    if (!tree.empty()) aqueduct::aqsim::read_tree(tree, options);
    if (!sync.empty()) aqueduct::aqsim::read_sync(sync, options);
    if (!noise.empty()) aqueduct::aqsim::read_noise(noise, options);
    return aqueduct::aqsim::run(options);
  } catch (const aqueduct::sim::BadInput& problem) {
    fmt::print(stderr, "aqsim: {}\n", problem.what());
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "aqsim: there is not enough memory; fewer ranks may fit\n");
    return 2;
  } catch (const std::system_error& error) {
    return aqueduct::tools::after_system_error("aqsim", error);
  }
}

int main(int argc, char** argv) {
  aqueduct::tools::keep_standard_places();
  return aqueduct::tools::after_output("aqsim", run_tool(argc, argv));
}
