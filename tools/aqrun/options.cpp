#include "tools/aqrun/options.hpp"

#include <aqueduct/version.hpp>

#include "core/readable.hpp"
#include "tools/aqrun/remote_command.hpp"
#include "tools/given_value.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace aqrun {
namespace {

struct Raw {
  std::int64_t ranks = 0;
  std::int64_t endpoints = 0;
  std::string conduit, hosts, remote, remote_aqrun, stdin_to = "0";
  bool pmix = false;
  double grace = 3, timeout = 0, connect = 60;
  std::vector<std::string> environment;
};

/// How many ranks each process would have by AQUEDUCT_ENDPOINTS, from -e or from our environment. What is no number, the
/// ranks refuse themselves.
std::uint32_t endpoints_by_variable(const Raw& raw) {
  constexpr std::string_view kStart = "AQUEDUCT_ENDPOINTS=";
  const char* const inherited = std::getenv("AQUEDUCT_ENDPOINTS");
  std::string_view text = inherited != nullptr ? inherited : "";
  for (const std::string_view item : raw.environment) {
    if (item.starts_with(kStart)) text = item.substr(kStart.size());
  }
  std::uint32_t ranks = 0;
  std::from_chars(text.data(), text.data() + text.size(), ranks);
  return ranks;
}

std::string complaint(const Raw& raw, const Options& options) {
  if (raw.pmix) {
    return "--pmix: aqrun cannot start jobs through PMIx; use --hosts FILE for several hosts, or leave "
           "--pmix out for this one";
  }
  if (raw.ranks < 1 || raw.ranks > kMostRanks) {
    return fmt::format("-n {}: the number of ranks must be 1 to {}", raw.ranks, kMostRanks);
  }
  if (options.endpoints_given && (raw.endpoints < 1 || raw.endpoints > raw.ranks)) {
    return fmt::format("--endpoints {}: the ranks per process must be 1 to -n, which is {}", raw.endpoints,
                       raw.ranks);
  }
  if (const std::uint32_t each = endpoints_by_variable(raw); !options.endpoints_given && each > 1) {
    return fmt::format(
        "AQUEDUCT_ENDPOINTS={}: -n counts ranks, and --endpoints says how many of them a process has; give "
        "--endpoints {}, or unset AQUEDUCT_ENDPOINTS",
        each, each);
  }
  for (const std::string& item : raw.environment) {
    const auto equals = item.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fmt::format("-e {}: write NAME=value (ranks inherit variables that are already set without -e)",
                         item);
    }
    if (item.substr(0, equals) == "AQUEDUCT_BOOTSTRAP") {
      return "-e AQUEDUCT_BOOTSTRAP=…: aqrun itself sets this variable for each process; leave it out";
    }
  }
  if (!(raw.grace >= 0 && raw.grace <= 86400))
    return fmt::format("--grace {}: the seconds must be 0 to 86400", raw.grace);
  if (!(raw.timeout >= 0 && raw.timeout <= 1e7))
    return fmt::format("--timeout {}: the seconds must be 0 (no limit) to 10000000", raw.timeout);
  if (!(raw.connect > 0 && raw.connect <= 86400))
    return fmt::format("--connect-timeout {}: the seconds must be above 0 and at most 86400", raw.connect);
  if (raw.hosts.empty() && !(raw.remote.empty() && raw.remote_aqrun.empty())) {
    return "--remote and --remote-aqrun apply only to the hosts of --hosts FILE, which is missing; give it, "
           "or leave them out";
  }
  if (options.program.empty()) return "no PROGRAM is given: aqrun -n N [options] PROGRAM ARGS…";
  if (options.program.front().empty())
    return "PROGRAM is empty, as an unset variable of a shell is: aqrun -n N [options] PROGRAM ARGS…";
  if (options.program.front().starts_with('-')) {
    return fmt::format(
        "unknown option {}; aqrun --help lists the options of aqrun, and options of the program come after "
        "PROGRAM",
        options.program.front());
  }
  return {};
}

/// Decides which host runs which ranks. Returns why that is not possible, or nothing.
std::string read_hosts_into(Options& options, const Raw& raw) {
  if (raw.hosts.empty()) return {};
  options.remote = raw.remote.empty() ? kSshTemplate : raw.remote;
  options.remote_aqrun = raw.remote_aqrun;
  const auto command = RemoteCommand::parse(options.remote);
  if (const auto* why = std::get_if<std::string>(&command)) return "--remote: " + *why;
  const auto hosts = read_hosts_file(raw.hosts);
  if (const auto* why = std::get_if<std::string>(&hosts)) return "--hosts " + *why;
  auto shares = place(std::get<std::vector<Host>>(hosts), options.ranks, options.endpoints);
  if (const auto* why = std::get_if<std::string>(&shares)) return "--hosts " + raw.hosts + ": " + *why;
  options.shares = std::get<std::vector<Share>>(std::move(shares));
  return {};
}

/// Prints the usage line: CLI11 does not know PROGRAM, which ends the options.
class Help : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: aqrun -n N [OPTIONS] PROGRAM [ARGS...]\n";
  }
};

std::chrono::milliseconds seconds(double value) {
  // Upwards: 0 means no limit.
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(value * 1000)));
}

}  // namespace

std::variant<Options, Ended> read_options(int argc, char** argv) {
  using aqueduct::tools::decimal;
  using aqueduct::tools::given_value;
  using aqueduct::tools::real;
  Options options;
  Raw raw;
  CLI::App app{"Starts the ranks of an Aqueduct job, on this host or on several.", "aqrun"};
  app.formatter(std::make_shared<Help>());
  app.prefix_command();  // PROGRAM ends the options of aqrun
  app.set_version_flag("--version", aqueduct::library_version_text());
  app.footer(
      "Exit status: 0 if every rank exited with 0, and left the job if it had joined it. Otherwise that of\n"
      "the first failure: the rank's own; 128 + N if signal N killed it; 1 if it exited with 0 but without\n"
      "Job::finish; that of Job::abort. 124: --timeout; 128 + N: signal N to aqrun itself; 2: wrong usage;\n"
      "126: PROGRAM cannot be executed; 127: PROGRAM does not exist. SIGUSR1 and SIGUSR2 are passed on to "
      "the\n"
      "processes that have joined the job, or else to those that aqrun has started.");
  const auto option = [&app](const char* names, auto& into, const char* meaning) {
    return app.add_option(names, into, meaning)->take_last();
  };
  option("-n", raw.ranks, "Number of ranks, 1 to 256")->required()->check(decimal());
  option("--conduit", raw.conduit, "Sets AQUEDUCT_CONDUIT: smp, loop, ... or the file of a plug-in")
      ->check(given_value());
  option(
      "--hosts", raw.hosts,
      "File with the hosts to run on, one per line: name [slots=K]; # begins a comment. A host takes as many "
      "ranks as it has slots; without slots, hosts share the ranks evenly")
      ->check(given_value());
  option("--remote", raw.remote,
         fmt::format(
             "How to run a command on {{host}}: {{command}} is replaced by its words, {{shell-command}} by "
             "one word that a shell on the host splits into them ({})",
             kSshTemplate)
             .c_str())
      ->check(given_value());
  option("--remote-aqrun", raw.remote_aqrun, "Path of aqrun on the hosts (the same as here)")
      ->check(given_value());
  option("--connect-timeout", raw.connect, "Seconds that a host has to answer (60)")->check(real());
  app.add_flag("--pmix", raw.pmix, "Start through PMIx (not supported)");
  app.add_option("-e", raw.environment, "NAME=value: a variable for the ranks; may be repeated")
      ->type_size(1)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* endpoints = option("--endpoints", raw.endpoints, "Ranks per process, as endpoints of one program");
  endpoints->check(decimal());
  app.add_flag("--tag", options.tag, "Begin each line of output with the rank");
  option("--bind", options.bind, "Bind processes in turn to core, pu, numa or package; or auto, none")
      ->check(CLI::IsMember({"auto", "none", "core", "pu", "numa", "package"}));
  option("--grace", raw.grace, "Seconds for the other ranks to end after the first failure (3)")
      ->check(real());
  option("--timeout", raw.timeout, "Seconds after which aqrun ends the whole job (none)")->check(real());
  option("--stdin", raw.stdin_to, "0: rank 0 reads the input; none: no rank does")
      ->check(CLI::IsMember({"0", "none"}));
  app.add_flag("-v,--verbose", options.verbose, "Print what is started and how it ends");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return Ended{app.exit(error)};  // --help, --version
    fmt::print(stderr, "aqrun: {} (aqrun --help)\n", aqueduct::core::readable(error.what()));
    return Ended{kUsageStatus};
  }
  options.program = app.remaining();
  if (!options.program.empty() && options.program.front() == "--")
    options.program.erase(options.program.begin());
  options.endpoints_given = endpoints->count() > 0;
  std::string why = complaint(raw, options);
  if (why.empty()) {
    options.ranks = static_cast<std::uint32_t>(raw.ranks);
    if (options.endpoints_given) options.endpoints = static_cast<std::uint32_t>(raw.endpoints);
    why = read_hosts_into(options, raw);
  }
  if (!why.empty()) {
    fmt::print(stderr, "aqrun: {}\n", aqueduct::core::readable(why));
    return Ended{kUsageStatus};
  }
  if (!raw.conduit.empty()) options.environment.push_back("AQUEDUCT_CONDUIT=" + raw.conduit);
  options.environment.insert(options.environment.end(), raw.environment.begin(), raw.environment.end());
  options.grace = seconds(raw.grace);
  options.timeout = seconds(raw.timeout);
  options.connect = seconds(raw.connect);
  options.stdin_to_first = raw.stdin_to == "0";
  return options;
}

std::uint32_t endpoints_of_process(const Options& options, std::uint32_t process) {
  return std::min(options.endpoints, options.ranks - process * options.endpoints);
}

std::string quantity_of_ranks(std::uint32_t count) {
  return fmt::format("{} {}", count, count == 1 ? "rank" : "ranks");
}

std::string ranks_of_process(const Options& options, std::uint32_t process) {
  const std::uint32_t first = process * options.endpoints;
  const std::uint32_t last = first + endpoints_of_process(options, process) - 1;
  return first == last ? fmt::format("rank {}", first) : fmt::format("ranks {}-{}", first, last);
}

std::string label_of_process(const Options& options, std::uint32_t process) {
  if (!options.tag) return {};
  const std::string ranks = ranks_of_process(options, process);
  return "[" + ranks.substr(ranks.find(' ') + 1) + "] ";
}

}  // namespace aqrun
