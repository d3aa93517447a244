#include <aqueduct/aqueduct.hpp>

#include "conduits/registry.hpp"
#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/benches/start.hpp"
#include "tools/aqperf/failure.hpp"
#include "tools/aqperf/launch.hpp"
#include "tools/aqperf/load.hpp"
#include "tools/aqperf/measure/session.hpp"
#include "tools/aqperf/report/peers.hpp"
#include "tools/aqperf/report/report.hpp"
#include "tools/aqperf/sweep/sweep.hpp"
#include "tools/aqperf/sweep/variants.hpp"
#include "tools/standard_output.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace aqueduct::perf {

namespace {

Job start_job(const Options& options) {
  Config config = Config::from_environment();
  if (!options.conduit.empty()) require(config.set("conduit", options.conduit), "--conduit");
  if (options.threads > 0 && must_leave_near(options)) {
    fmt::print(stderr, "{}", near_is_off(options));
    require(config.set("near", "off"), "AQUEDUCT_NEAR");
  }
  if (options.guard || (options.callers > 1 && !options.own_mutex)) {
    require(config.set(Threads::multiple), "AQUEDUCT_THREADS");
  } else if (options.own_mutex) {
    require(config.set(Threads::serialized), "AQUEDUCT_THREADS");
  }
  return options.threads > 0 ? require(Job::in_process(options.threads, config), "the job cannot start")
                             : require(Job::start(config), "the job cannot start");
}

/// Prints a remark if ranks do not use the requested conduit: the launcher's settings decide.
void tell_what_is_measured(Endpoint& ep, const Options& options) {
  const std::string used = ep.conduit_of(ep.ranks() - 1);
  const bool plugin = conduits::is_path(options.conduit);
  if (options.conduit.empty() || options.conduit == "auto" || plugin || ep.rank() != 0 ||
      used == options.conduit || options.sweep.is_part)
    return;
  fmt::print(
      stderr,
      "aqperf: measures {}, not {}: ranks of one host use shared memory; try aqrun -e AQUEDUCT_NEAR=off\n",
      used, options.conduit);
}

/// Runs the benchmark at each of this process's ranks; the exit status.
int run_in_job(const Options& options, const Bench& bench) {
  std::vector<std::unique_ptr<Session>> sessions;  // must outlive the job
  Job job = start_job(options);
  if (options.ranks != 0 && options.ranks != job.ranks()) {
    throw Failure(
        fmt::format("--ranks {}, but the launcher started {}; leave --ranks out", options.ranks, job.ranks()),
        kUsageError);
  }
  sessions.resize(job.endpoints());
  const Rank first = job.endpoint(0).rank();
  std::atomic<int> exit_status{0};
  job.run_each([&](Endpoint& ep) {
    try {
      auto& session = sessions[ep.rank() - first];
      session = std::make_unique<Session>(ep, options);
      tell_what_is_measured(ep, options);
      Reporter reporter(options.json, options.load, ep.rank() != 0);
      bench.run(*session, reporter);
      if (options.statistics) fmt::print(stderr, "{}", describe_peers(ep));
    } catch (const Failure& failure) {
      // Misuse is the same at every rank, so rank 0 reports it; a failure may be one rank's own.
      const bool misuse = failure.exit_status() == kUsageError;
      if (!misuse || ep.rank() == 0) fmt::print(stderr, "aqperf: {}: {}\n", bench.name, failure.what());
      exit_status = failure.exit_status();
      // Other ranks of this process may wait for this one, and only the end of the process tells them.
      if (!misuse && job.endpoints() > 1) std::_Exit(failure.exit_status());
    } catch (const std::system_error& error) {
      exit_status = tools::after_system_error("aqperf", error);
      if (job.endpoints() > 1) std::_Exit(tools::after_output("aqperf", exit_status));
    } catch (const std::bad_alloc&) {
      exit_status = tools::after_no_memory("aqperf", 1);
      if (job.endpoints() > 1) std::_Exit(exit_status);
    }
  });
  // After a failure other ranks may never reach `finish`: exit without them.
  if (exit_status != 0 && exit_status != kUsageError) return exit_status;
  const Status finished = job.finish();
  return exit_status != 0 ? exit_status.load() : finished.exit_code();
}

int run(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == kKeepBusy) keep_busy();
  if (mode == kStartNothing) return 0;
  if (mode == kStartMember) return start_member();

  const CommandLine line = parse_command_line(argc, argv);
  if (!line.options) {
    fmt::print(line.exit_status == 0 ? stdout : stderr, "{}", line.message);
    return line.exit_status;
  }
  Options options = *line.options;
  // Its ranks are threads of one process.
  if (options.bench == "calibrate" && options.conduit == "sim" && options.threads == 0)
    options.threads = std::max<Rank>(options.ranks, 2), options.ranks = 0;
  const Bench& bench = *find_bench(options.bench);
  if (bench.run == nullptr) {
    if (has_launcher()) {
      throw Failure("start runs aqrun itself: call it without a launcher, as: aqperf start --ranks N",
                    kUsageError);
    }
    Reporter reporter(options.json, false, false);
    time_starts(options, reporter);
    return 0;
  }
  if (sweeps(options.sweep) && !options.sweep.is_part) {
    if (has_launcher()) {
      throw Failure(
          "a sweep (--algorithm, --trees, --divide, --hosts) runs aqrun itself: call it without a launcher",
          kUsageError);
    }
    sweep(options, argc, argv);
    return 0;
  }
  if (options.threads > 0 && has_launcher()) {
    throw Failure(
        "the ranks of --threads, and of calibrate --conduit sim, are threads of one process, and each "
        "process "
        "of the launcher would measure alone: call it without a launcher, or leave --threads out",
        kUsageError);
  }
  if (!has_launcher() && options.threads == 0) relaunch(options, argc, argv);
  return run_in_job(options, bench);
}

}  // namespace

}  // namespace aqueduct::perf

int main(int argc, char** argv) {
  aqueduct::tools::keep_standard_places();
  int status = 1;
  try {
    status = aqueduct::perf::run(argc, argv);
  } catch (const aqueduct::perf::Failure& failure) {
    fmt::print(stderr, "aqperf: {}\n", failure.what());
    status = failure.exit_status();
  } catch (const std::system_error& error) {
    status = aqueduct::tools::after_system_error("aqperf", error);
  } catch (const std::bad_alloc&) {
    status = aqueduct::tools::after_no_memory("aqperf", 1);
  }
  return aqueduct::tools::after_output("aqperf", status);
}
