#include "tools/aqtune/search.hpp"

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/tune.hpp>

#include "coll/barriers.hpp"
#include "coll/tune/operation_word.hpp"
#include "tools/aqtune/found_line.hpp"
#include "tools/aqtune/page.hpp"
#include "tools/aqtune/regret_here.hpp"
#include "tools/aqtune/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aqueduct::aqtune {

namespace {

std::string_view word_of(Sync sync) noexcept {
  constexpr std::array<std::string_view, 3> kWords{"none", "mine", "all"};
  return kWords[static_cast<std::size_t>(sync)];
}

/// Members of an object of JSON.
std::string regret_json(const Tuned& one) {
  return fmt::format(R"(, "compared": {}, "fastest": "{}", "regret": {:.4f}, "noise": {:.4f})", one.compared,
                     one.fastest, one.regret, one.noise);
}

void print(const Tuned& one, const Way& way, Rank ranks, const Options& options) {
  const std::uint64_t element = combines(one.operation) ? bytes_of(way.type) : 1;
  const auto us = [](std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1000; };
  if (options.json) {
    fmt::print(
        R"({{"operation": "{}", "ranks": {}, "bytes": {}, "algorithm": "{}", "median_us": {:.3f}, "runner_up": )"
        R"("{}", "runner_up_us": {:.3f}, "samples": {}, "tried": {}, "decided": {}, "in": "{}", "out": "{}", "element": {}{}}})"
        "\n",
        coll::operation_word(one.operation), ranks, one.bytes, one.algorithm, us(one.median), one.runner_up,
        us(one.runner_up_median), one.samples, one.tried, one.decided, word_of(way.sync.first),
        word_of(way.sync.second), element, options.exhaustive == 0 ? "" : regret_json(one));
  } else {
    if (way.sync != std::pair{Sync::all, Sync::all} && one.operation != Collective::barrier)
      fmt::print("sync {} to {}  ", word_of(way.sync.first), word_of(way.sync.second));
    if (element == 4) fmt::print("elements of 4 bytes  ");
    fmt::print("{}\n", found_line(one));
    if (options.exhaustive != 0) fmt::print("    {}\n", regret_words(one));
  }
}

/// Fails if the launcher has started another job than the options ask for.
void check_job(const Job& job, const Options& options) {
  if (options.ranks != 0 && options.ranks != job.ranks())
    throw BadInput(fmt::format("--ranks {}, but the launcher started {}; leave --ranks out", options.ranks,
                               job.ranks()));
  const std::string conduit = job.config().text("conduit");
  if (!options.conduit.empty() && options.conduit != conduit)
    throw BadInput(fmt::format(
        "--conduit {}, but the launcher's setting is AQUEDUCT_CONDUIT={}; give the conduit to the launcher: "
        "aqrun --conduit {}",
        options.conduit, conduit, options.conduit));
}

/// A rank of another host, if there is one: its conduit names the file (coll/tuning_run.cpp).
Rank farthest(const Endpoint& me) {
  const auto near = me.neighbours();
  for (Rank rank = me.ranks(); rank-- > 0;) {
    if (std::find(near.begin(), near.end(), rank) == near.end()) return rank;
  }
  return me.ranks() > 1 ? 1 : 0;
}

/// How long the lock of the file may be held before the search: less than other ranks wait for this one.
constexpr std::chrono::milliseconds kLockPatienceBefore{1000};

/// Ends the job if what it finds cannot be saved: before the search, which takes longer.
void check_out(Job& job, const std::string& file, const coll::TuningPlace& place) {
  const std::string problem = coll::why_not_saved(file, place, kLockPatienceBefore);
  if (problem.empty()) return;
  fmt::print(stderr, "aqtune: --out: {}\n", problem);
  job.leave(2);  // the other ranks wait for this one
}

/// What was left out, by reason.
struct LeftOut {
  std::size_t by_setting = 0;
  std::size_t by_time = 0;
  std::size_t others = 0;

  void add(const TuneReport& report) noexcept {
    by_setting += report.left_out_by_setting;
    by_time += report.left_out_by_time;
    others += report.left_out - report.left_out_by_setting - report.left_out_by_time;
  }
  void print() const {
    if (by_setting != 0)
      fmt::print(stderr,
                 "aqtune: {} sizes were left out: a setting (AQUEDUCT_COLL_…) names their algorithm\n",
                 by_setting);
    if (by_time != 0)
      fmt::print(stderr, "aqtune: {} sizes were left out: more --seconds may help\n", by_time);
    if (others != 0)
      fmt::print(stderr,
                 "aqtune: {} sizes were left out: their buffers are too large, or the team has no memory for "
                 "collective calls\n",
                 others);
  }
};

}  // namespace

int tune_here(Job& job, const Options& options) {
  Endpoint& me = job.endpoint();
  check_job(job, options);
  if (me.rank() == 0) check_page(options.report);
  if (me.ranks() == 1) throw BadInput("a team of one has nothing to tune: start at least two ranks");
  TuneOptions wanted;
  wanted.candidates = options.candidates;
  wanted.save = options.out;
  wanted.exhaustive = options.exhaustive;
  Options chosen = options;
  // Nothing to choose, and no time would help.
  if (coll::Barriers::has_native(me.world().state())) std::erase(chosen.operations, Collective::barrier);
  if (chosen.operations.empty())
    throw BadInput("the barrier of these ranks is the conduit's own, which has no algorithms to choose from");
  const core::Properties& conduit = me.state().conduit(farthest(me)).properties();
  const coll::TuningPlace place{coll::machine_kind(), conduit.name, conduit.network};
  const std::string file = coll::tuning_file(options.out, place);
  if (me.rank() == 0) check_out(job, file, place);
  const auto ways = ways_of(chosen);
  LeftOut left_out;
  RegretHere regret;
  bool found = false;
  bool unsaved = false;
  for (const auto& [way, operations] : ways) {
    // What a way leaves over is not for the others: members would have to agree on it.
    wanted.time = std::chrono::nanoseconds(
        static_cast<std::int64_t>(options.seconds * 1e9 / static_cast<double>(ways.size())));
    wanted.calls.in = way.sync.first;
    wanted.calls.out = way.sync.second;
    wanted.type = way.type;
    const auto report = tune(me.world(), operations, options.bytes, wanted);
    if (!report) {
      if (me.rank() == 0) fmt::print(stderr, "aqtune: {}\n", report.status().text());
      return report.status().exit_code();
    }
    if (me.rank() != 0) continue;
    for (const Tuned& one : report->found) {
      print(one, way, me.ranks(), options);
      regret.add(one);
    }
    left_out.add(*report);
    if (report->found.empty()) continue;
    found = true;
    unsaved |= !report->saved;
  }
  if (me.rank() != 0) return 0;
  left_out.print();
  if (options.exhaustive != 0 && !options.json) fmt::print("{}", regret.summary());
  if (!found && !options.report.empty())
    fmt::print(stderr, "aqtune: nothing was tuned, so {} is not written; --from makes a page of a file\n",
               options.report);
  if (!found) return options.report.empty() ? 0 : 1;
  if (unsaved) return 1;  // the log says why
  if (!options.json) fmt::print("written: {}\n", file);
  if (options.report.empty()) return 0;
  write_page(options.report, file);
  if (!options.json) fmt::print("written: {}\n", options.report);
  return 0;
}

}  // namespace aqueduct::aqtune
