#include "tools/aqsim/command_line.hpp"

#include "tools/given_value.hpp"

#include <cstdint>

namespace aqueduct::aqsim {

using tools::given_value;

namespace {

void add_network(CLI::App& app, Options& options, CommandLine& line) {
  auto* const network =
      app.add_option("--network", options.network, "a network by name (--networks), or a file")
          ->type_name("FILE|NAME")
          ->capture_default_str();
  app.add_option("--profile", options.profile,
                 "what `aqperf calibrate` has measured on this machine, in place of a network")
      ->excludes(network)
      ->check(given_value())
      ->type_name("FILE");
  app.add_option("--cores", options.cores, "processors that the ranks of a host share, if there are fewer")
      ->check(tools::decimal())
      ->check(CLI::Range(1U, 1U << 20))
      ->type_name("N");
  app.add_flag(
      "--mixed", options.mixed,
      "the ranks of a host sit on its processors in an order by chance (--seed); otherwise neighbours "
      "share one");
  auto* const per_host =
      app.add_option("--ranks-per-host", options.ranks_per_host,
                     "so many neighbouring ranks share a host; the last host may have fewer")
          ->check(tools::decimal())
          ->check(CLI::Range(1U, 1U << 28))
          ->type_name("N");
  app.add_option("--hosts", line.hosts,
                 "ranks of each host, such as 8,8,3; 64x8,3: of 64 hosts, and of one more")
      ->excludes(per_host)
      ->check(given_value())
      ->type_name("LIST");
  app.add_flag("--networks", line.networks, "lists the networks by name");
}

/// When members call, and what the processors do beside the calls.
void add_course(CLI::App& app, Options& options, CommandLine& line) {
  app.add_option("--times", options.times, "calls of each member, one after the other")
      ->check(tools::decimal())
      ->check(CLI::Range(1U, 200U))
      ->capture_default_str();
  app.add_flag("--in-flight", options.in_flight, "all calls at once");
  app.add_option("--compute", options.compute_us, "microseconds of computing between two calls")
      ->check(tools::real())
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--late", options.late_us, "members call up to so many microseconds late, by chance")
      ->check(tools::real())
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--noise", line.noise, "each processor stops so many microseconds in every period")
      ->check(given_value())
      ->type_name("PERIOD:LENGTH");
  app.add_option("--seed", options.seed, "of all that goes by chance")
      ->check(given_value())
      ->check(tools::decimal())
      ->capture_default_str();
}

void add_output(CLI::App& app, Options& options) {
  app.add_flag("--idle", options.idle, "the idle time of ranks");
  app.add_option("--links", options.links, "the N links that have carried most")
      ->check(tools::decimal())
      ->check(CLI::Range(1U, 1U << 30))
      ->type_name("N");
  app.add_option("--trace", options.trace, "a Chrome trace of the simulation, for Perfetto")
      ->check(given_value())
      ->type_name("FILE");
  app.add_option("--plot", options.plot, "time against bytes and ranks, as .svg or .html")
      ->check(given_value())
      ->type_name("FILE");
  app.add_option("--most-messages", options.most_messages,
                 "refuses to simulate more messages one by one; 0: no limit")
      ->check(given_value())
      ->check(tools::decimal())
      ->capture_default_str();
  app.add_flag("--one-by-one", options.one_by_one, "an event for each message, also where less is as exact");
  app.add_flag("--json", options.json, "a line of JSON for each simulation");
}

}  // namespace

void CommandLine::add_to(CLI::App& app, Options& options) {
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
  add_network(app, options, *this);
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
  app.add_option("--root", options.root, "the root")
      ->check(given_value())
      ->check(tools::decimal())
      ->capture_default_str();
  app.add_option("--element", options.element, "bytes of an element")
      ->check(tools::decimal())
      ->check(CLI::Range(1U, 4096U))
      ->capture_default_str();
  add_course(app, options, *this);
  add_output(app, options);
}

void CommandLine::read_into(Options& options) const {
  if (!hosts.empty()) read_hosts(hosts, options);
  if (!counts.empty()) {
    options.counts = read_counts(counts);
    if (options.counts.rule == Counts::Rule::numbers) {
      if (!bytes.empty()) throw sim::BadInput("the numbers of --counts are bytes: leave out --bytes");
      if (hosts.empty()) options.ranks = {static_cast<Rank>(options.counts.numbers.size())};
    }
  }
  if (!ranks.empty()) {
    options.ranks.clear();
    for (const std::uint64_t value : read_range(ranks, "ranks", 1U << 28))
      options.ranks.push_back(static_cast<Rank>(value));
    if (options.ranks.front() == 0) throw sim::BadInput("there is at least one rank");
  }
  if (!bytes.empty() && options.operation == "barrier")
    throw sim::BadInput("a barrier moves no bytes: leave out --bytes");
  if (!bytes.empty()) options.bytes = read_range(bytes, "bytes", std::uint64_t{1} << 40);
  if (!tree.empty()) read_tree(tree, options);
  if (!sync.empty()) read_sync(sync, options);
  if (!noise.empty()) read_noise(noise, options);
}

}  // namespace aqueduct::aqsim
