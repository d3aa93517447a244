#include "tools/aqperf/measure/sampler.hpp"

#include "tools/aqperf/load.hpp"
#include "tools/aqperf/measure/machine.hpp"
#include "tools/aqperf/raw/raw_cacheline.hpp"

#include <algorithm>
#include <chrono>

namespace aqueduct::perf {

namespace {

using Clock = std::chrono::steady_clock;

/// Length of a sample. Chosen: reading the clock is then 0.2 % of it, and a lost time slice still stands out.
constexpr double kSampleNs = 10'000;
/// Chosen: the most samples kept of one trial.
constexpr std::uint64_t kMostSamples = 200'000;

double nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

constexpr std::chrono::milliseconds kWarmUpOfSweep{50};  // chosen, see measure

struct Plan {
  std::uint64_t batch = 1;
  std::uint64_t samples = 1;  // 0: the trial is over
  bool keep = false;          // false while the length of a batch is being found
};

/// `prepared`: samples are of one turn each (Subject::prepare).
Plan next_plan(const Plan& last, double chunk_ns, double elapsed_ns, double budget_ns, std::uint64_t kept,
               bool prepared) {
  const double batch_ns = std::max(1.0, chunk_ns / static_cast<double>(last.samples));
  if (!last.keep && !prepared && batch_ns < kSampleNs / 2) {
    const double growth = std::clamp(kSampleNs / batch_ns, 2.0, 16.0);
    return {static_cast<std::uint64_t>(static_cast<double>(last.batch) * growth), 1, false};
  }
  const double left = budget_ns - elapsed_ns;
  if (kept >= kMostSamples || (left <= 0 && kept > 0)) return {last.batch, 0, true};
  // At most four times the samples of the last step, because the first estimate may be far off.
  const double wanted = std::min(
      {left / batch_ns, 4.0 * static_cast<double>(last.samples), static_cast<double>(kMostSamples - kept)});
  return {last.batch, static_cast<std::uint64_t>(std::max(1.0, wanted)), true};
}

/// One of the contenders for a row: the measured subject, whose name is empty, or a comparator.
struct Contender {
  std::string name;
  const Subject* subject = nullptr;
  std::vector<Samples> trials{};
  double longest_ns = 0;
};

/// What one rank recorded for one side of a row.
struct Side {
  Summary ns;
  double longest_ns = 0;
  bool records = false;
};

Side summary_of(const Subject& subject, std::vector<Samples> trials, double longest_ns) {
  return {summarize(std::move(trials)), longest_ns, subject.records};
}

/// Combines the figures of all ranks that record.
Summary join(const std::vector<Side>& sides, const Unit& unit) {
  Samples medians;
  Summary out;
  for (const Side& side : sides) {
    if (!side.records || side.ns.samples == 0) continue;
    const Summary one = unit.convert(side.ns);
    if (unit.is_rate()) {
      out = {out.median + one.median, out.p01 + one.p01, out.p99 + one.p99, out.samples + one.samples,
             out.mean + one.mean};
      continue;
    }
    out.p01 = medians.empty() ? one.p01 : std::min(out.p01, one.p01);
    out.p99 = std::max(out.p99, one.p99);
    const auto before = static_cast<double>(out.samples);
    const auto more = static_cast<double>(one.samples);
    out.mean = (out.mean * before + one.mean * more) / (before + more);
    out.samples += one.samples;
    medians.push_back(one.median);
  }
  if (!unit.is_rate()) out.median = median(medians);
  return out;
}

/// Cores that were busy with neither the ranks of this machine nor our own load.
class OthersMeter {
 public:
  explicit OthersMeter(const BusyProcess* load) : load_(load) {}
  double cores(Session& session) const {
    const auto own = session.exchange(own_core_seconds() - own_);
    double others =
        busy_core_seconds() - busy_ - (load_ != nullptr ? load_->core_seconds() - load_seconds_ : 0);
    for (Rank mate : session.machine_mates()) others -= own[mate];
    const double wall = nanoseconds_since(begin_) * 1e-9;
    // /proc/stat counts in steps of 10 ms on each core: differences below that are rounding.
    return wall < 0.2 || others < 0.04 ? 0 : others / wall;
  }

 private:
  const BusyProcess* load_;
  double busy_ = busy_core_seconds();
  double own_ = own_core_seconds();
  double load_seconds_ = load_ != nullptr ? load_->core_seconds() : 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

Samples run_trial(Session& session, const Subject& subject, std::chrono::nanoseconds budget,
                  double& longest_ns) {
  Samples out;
  Plan plan = session.share(Plan{});
  for (const auto begin = Clock::now(); plan.samples > 0;) {
    out.reserve(out.size() + plan.samples);
    const auto chunk_begin = Clock::now();
    auto before = chunk_begin;
    for (std::uint64_t sample = 0; sample < plan.samples; ++sample) {
      if (subject.prepare) {
        subject.prepare();
        before = Clock::now();
      }
      subject.run(plan.batch);
      const auto after = Clock::now();
      const double ns = std::chrono::duration<double, std::nano>(after - before).count();
      before = after;
      if (!plan.keep) continue;
      out.push_back(ns / (static_cast<double>(plan.batch) * subject.operations));
      longest_ns = std::max(longest_ns, ns);
    }
    const double chunk_ns = nanoseconds_since(chunk_begin);
    const auto budget_ns = static_cast<double>(budget.count());
    plan = session.share(next_plan(plan, chunk_ns, nanoseconds_since(begin), budget_ns, out.size(),
                                   subject.prepare != nullptr));
  }
  return out;
}

Row measure(Session& session, std::string bench, std::size_t bytes, Unit unit, const Subject& subject,
            const Raw& raw) {
  const Options& options = session.options();
  std::vector<Contender> contenders{{{}, &subject}};
  const bool compared = options.vs_raw || raw.always;
  if (compared && raw.subject) contenders.push_back({"raw", &*raw.subject});
  if (compared) {
    for (const auto& [name, comparator] : raw.more) contenders.push_back({"raw_" + name, &comparator});
  }
  const auto trials = static_cast<double>(options.repeat) * static_cast<double>(contenders.size());
  const auto budget = std::chrono::duration_cast<std::chrono::nanoseconds>(options.seconds / trials);

  Row row;
  CacheLinePingPong cacheline(session, session.pair());
  row.cacheline_before_ns = cacheline.probe(session);

  std::optional<BusyProcess> load;
  if (options.load && session.rank() == 0) load.emplace();
  const OthersMeter others(load ? &*load : nullptr);
  if (options.sweep.is_part) {
    // Each job of a sweep is a new one, whose first calls map memory: among 8 ranks all-reduces of 1 MiB take ten times as long at
    // first, for some 10 ms.
    double longest_ns = 0;
    run_trial(session, subject, std::max<std::chrono::nanoseconds>(budget / 2, kWarmUpOfSweep), longest_ns);
  }
  for (int turn = 0; turn < options.repeat; ++turn) {
    // The order turns round from one turn to the next, so that a drift favours no contender.
    for (Contender& contender : contenders) {
      contender.trials.push_back(run_trial(session, *contender.subject, budget, contender.longest_ns));
    }
    std::reverse(contenders.begin(), contenders.end());
  }
  row.others_cores = others.cores(session);
  load.reset();
  row.cacheline_after_ns = cacheline.probe(session);

  for (Contender& contender : contenders) {
    const auto sides =
        session.exchange(summary_of(*contender.subject, std::move(contender.trials), contender.longest_ns));
    const Summary figure = join(sides, unit);
    if (contender.name == "raw") {
      row.raw = figure.median;
      row.raw_mean = figure.mean;
    } else if (!contender.name.empty()) {
      row.more_raws.push_back({contender.name.substr(4), figure});
    } else {
      row.figure = figure;
      for (const Side& side : sides)
        row.longest_stall_ms = std::max(row.longest_stall_ms, side.longest_ns / 1e6);
    }
  }
  if (compared) row.raw_what = raw.what;
  row.bench = std::move(bench);
  row.bytes = bytes;
  row.unit = unit;
  row.ranks = session.ranks();
  row.conduit = session.ep().conduit_of(session.ranks() > 1 ? (session.rank() + 1) % session.ranks() : 0);
  return row;
}

}  // namespace aqueduct::perf
