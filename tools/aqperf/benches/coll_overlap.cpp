// A collective call beside computing. Four contenders take turns:
//
// both           the call is begun, the rank computes, then waits
// communication  the blocking call alone
// computing      the same computation alone; it takes about twice as long as the call
// quiet          the call is begun, and the rank sleeps between looks. It tells the processor time of the communication:
//                a blocking call spins while it waits, which is not work. The process's clock counts progress threads too.
//
// hidden: the share of the call's waiting (its time less its processor time) by which `both` is shorter than the call
//         and the computation one after the other; 0 if the call does not wait.
// beside_work: `both` / (computing + processor time), which is 1 where nothing is waited for.
//
// For a network with delay: AQUEDUCT_UDP_FAULTS=delay=2ms. Steps go on beside the computation only with
// AQUEDUCT_COLL_PROGRESS, as 100us: so long after the last call its thread begins to act. The four contenders have it alike.

#include "tools/aqperf/benches/coll_ground.hpp"
#include "tools/aqperf/measure/machine.hpp"
#include "tools/aqperf/raw/raw_memory.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>

namespace aqueduct::perf {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// Chosen: so long that the looks of a quiet wait take little processor time.
constexpr std::chrono::microseconds kBetweenLooks{200};

double ns_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double, std::nano>(SteadyClock::now() - begin).count();
}

void compute(std::uint64_t steps) {
  double x = unknown(1.0);
  for (std::uint64_t i = 0; i < steps; ++i) x = x * 1.000'000'1 + 1e-9;
  use(x);
}

/// The shortest of a few trials: the others were disturbed.
template <class Once>
double shortest_ns(Once once) {
  double shortest = 1e18;
  for (int trial = 0; trial < 5; ++trial) {
    const auto begin = SteadyClock::now();
    once();
    shortest = std::min(shortest, ns_since(begin));
  }
  return shortest;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_of(const Row& row, std::string_view name) {
  for (const auto& [other, summary] : row.more_raws) {
    if (other == name) return summary.median;
  }
  return 0;
}

}  // namespace

Row overlap_row(Session& session, const CollGround& ground, std::size_t bytes) {
  auto& ep = session.ep();
  Team& team = ep.world();
  const detail::CollCall call = ground.call(bytes);
  const auto blocking = [&] { require(detail::coll_run(team, call), "a collective call"); };
  const double call_ns = session.share(shortest_ns(blocking));
  constexpr std::uint64_t kProbeSteps = 100'000;
  const double step_ns = shortest_ns([] { compute(kProbeSteps); }) / static_cast<double>(kProbeSteps);
  const auto steps = static_cast<std::uint64_t>(2 * call_ns / step_ns);

  const auto times = [](auto once) {
    return [once](std::uint64_t turns) {
      for (; turns > 0; --turns) once();
    };
  };
  const auto both = [&, steps] {
    Event event = detail::coll_begin(team, call);
    compute(steps);
    require(ep.wait(event), "a collective call");
  };
  double used_ns = 0;
  double calls = 0;
  const auto quiet = [&] {
    const double before = process_ns();
    Event event = detail::coll_begin(team, call);
    while (!ep.test(event)) std::this_thread::sleep_for(kBetweenLooks);
    require(event.status(), "a collective call");
    used_ns += process_ns() - before;
    ++calls;
  };
  Raw raw{std::nullopt, "none; the call, the computation and a call without spinning by themselves"};
  raw.always = true;
  raw.more.emplace_back("communication", Subject{times(blocking)});
  raw.more.emplace_back("computing", Subject{times([steps] { compute(steps); })});
  raw.more.emplace_back("quiet", Subject{times(quiet)});
  Row row = measure(session, session.options().bench, bytes, {Unit::Kind::milliseconds, 0},
                    Subject{times(both)}, raw);

  const double processor = mean(session.exchange(used_ns / calls)) / 1e6;
  const double communication = median_of(row, "communication");
  const double computing = median_of(row, "computing");
  const double waiting = communication - processor;
  row.extra.emplace_back("processor_ms", processor);
  row.extra.emplace_back("hidden",
                         waiting > 0 ? (communication + computing - row.figure.median) / waiting : 0);
  row.extra.emplace_back("beside_work", row.figure.median / (computing + processor));
  return row;
}

}  // namespace aqueduct::perf
