#include "tools/aqperf/benches/start.hpp"

#include <aqueduct/aqueduct.hpp>

#include "tools/aqperf/failure.hpp"
#include "tools/aqperf/launch.hpp"
#include "tools/aqperf/measure/machine.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::perf {

namespace {

using Clock = std::chrono::steady_clock;

double elapsed_ns(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// The least time that starting that many ranks can take: as many processes of this program that exit at once.
double raw_start_ns(const std::string& program, Rank ranks) {
  std::string name = "aqperf", mode = kStartNothing;
  char* const arguments[] = {name.data(), mode.data(), nullptr};
  const auto begin = Clock::now();
  std::vector<pid_t> processes(ranks);
  for (pid_t& process : processes) {
    const int error = posix_spawn(&process, program.c_str(), nullptr, nullptr, arguments, environ);
    if (error != 0) throw Failure(program + ": " + std::strerror(error), 1);
  }
  for (const pid_t process : processes) waitpid(process, nullptr, 0);
  return elapsed_ns(begin);
}

/// What rank 0 of one job reports about its members.
struct Members {
  std::string conduit;
  double rss_kib = 0;  ///< of the rank with most memory
};

Members parse(const std::string& output) {
  const auto said = nlohmann::json::parse(output, nullptr, false);
  if (!said.is_object())
    throw Failure("start: rank 0 of the job printed '" + output + "' instead of JSON", 1);
  return {said.value("conduit", ""), said.value("rss_kib", 0.0)};
}

/// Meets all other ranks; afterwards rank 0 knows how much memory the largest rank has used.
Status meet(Endpoint& ep) {
  const std::uint64_t mine = peak_rss_kib();
  // The first word of each segment is 0 at the start; rank 0's becomes the maximum over the ranks.
  const GlobalPtr<std::uint64_t> most{0, 0};
  if (auto old = fetch_max(ep, most, mine); !old) return old.status();
  if (Status met = ep.barrier(); !met || ep.rank() != 0) return met;
  const auto rss_kib = load(ep, most);
  if (!rss_kib) return rss_kib.status();
  const nlohmann::ordered_json said{{"conduit", ep.conduit_of(ep.ranks() - 1)}, {"rss_kib", *rss_kib}};
  fmt::print("{}\n", said.dump());
  return {};
}

}  // namespace

void time_starts(const Options& options, Reporter& reporter) {
  const Rank ranks = options.ranks == 0 ? 2 : options.ranks;
  const std::string program = own_program();
  std::vector<std::string> command = aqrun_command(options);
  command.insert(command.end(), {program, kStartMember});

  Samples samples, raws;
  Row row;
  double rss_kib = 0;
  const auto begin = Clock::now();
  for (int turn = 0; turn < options.repeat || elapsed_ns(begin) < options.seconds.count() * 1e9; ++turn) {
    if (options.vs_raw) raws.push_back(raw_start_ns(program, ranks));
    const auto start = Clock::now();
    const std::string output = output_of(command);
    samples.push_back(elapsed_ns(start));
    const Members members = parse(output);
    row.conduit = members.conduit;
    rss_kib = std::max(rss_kib, members.rss_kib);
  }
  row.bench = options.bench;
  row.ranks = ranks;
  row.unit = {Unit::Kind::milliseconds, 0};
  row.longest_stall_ms = *std::max_element(samples.begin(), samples.end()) / 1e6;
  row.figure = row.unit.convert(summarize({samples}));
  if (options.vs_raw) {
    row.raw = row.unit.from_nanoseconds(median(raws));
    row.raw_what = "as many processes that end at once";
  }
  row.extra.emplace_back("peak_rss_kib", rss_kib);
  reporter.add(row);
}

int start_member() {
  auto job = Job::start();
  if (!job) {
    fmt::print(stderr, "aqperf: the job cannot start: {}\n", job.status().text());
    return job.status().exit_code();
  }
  std::atomic<int> exit_status{0};
  job->run_each([&](Endpoint& ep) {
    if (const Status status = meet(ep); !status) {
      fmt::print(stderr, "aqperf: rank {}: {}\n", ep.rank(), status.text());
      exit_status = status.exit_code();
    }
  });
  const Status finished = job->finish();
  return exit_status != 0 ? exit_status.load() : finished.exit_code();
}

}  // namespace aqueduct::perf
