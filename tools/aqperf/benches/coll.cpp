#include "coll/tune/operation_word.hpp"
#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/benches/coll_ground.hpp"
#include "tools/aqperf/report/fair_means.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>

namespace aqueduct::perf {

namespace {

/// "coll-all-reduce" → all_reduce
Collective operation_of(std::string_view bench) {
  std::string word(bench.substr(bench.find('-') + 1));
  std::replace(word.begin(), word.end(), '-', '_');
  auto operation = Collective::barrier;
  while (coll::operation_word(operation) != word) {
    operation = static_cast<Collective>(static_cast<unsigned>(operation) + 1);
  }
  return operation;
}

/// One call, bound to a plan if the options say so.
class CollSubject {
 public:
  CollSubject(Session& session, const CollGround& ground, std::size_t bytes, unsigned number = 0)
      : team_(&session.ep().world()),
        call_(ground.call(bytes, number)),
        is_plan_(session.options().coll.plan) {
    if (is_plan_) plan_ = require(detail::coll_bind(*team_, call_), "bind");
  }

  Status run() { return is_plan_ ? plan_.run() : detail::coll_run(*team_, call_); }
  Event begin() { return is_plan_ ? plan_.start() : detail::coll_begin(*team_, call_); }
  /// A call in the team's order.
  void end() {
    if (is_plan_) require(plan_.end(), "the end of a plan");
  }

 private:
  Team* team_;
  detail::CollCall call_;
  bool is_plan_;
  CollPlan plan_;
};

/// How often this thread has lost its processor: because it slept, yielded, or was preempted.
std::uint64_t switches() noexcept {
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_nvcsw) + static_cast<std::uint64_t>(usage.ru_nivcsw);
}
/// How often a rank is given a processor in a call, as a mean over ranks and calls. Behind the measurement, so that it costs no time there.
double runs_of(Session& session, CollSubject& call) {
  require(session.ep().barrier(), "a barrier");
  const auto began = std::chrono::steady_clock::now();
  require(call.run(), "a collective call");
  std::uint64_t took =
      static_cast<std::uint64_t>((std::chrono::steady_clock::now() - began) / std::chrono::nanoseconds(1));
  require(all_reduce(session.ep().world(), std::span(&took, 1), ReduceOp::max), "the longest time");
  const unsigned calls = took < 10'000'000 ? 16 : 1;  // chosen: 0.16 s at most, or one long call
  std::uint64_t count = switches();
  for (unsigned i = 0; i < calls; ++i) require(call.run(), "a collective call");
  count = switches() - count;
  require(all_reduce(session.ep().world(), std::span(&count, 1), ReduceOp::sum), "a sum");
  return static_cast<double>(count) / calls / session.ep().ranks();
}

Row blocking_row(Session& session, CollGround& ground, std::size_t bytes) {
  CollSubject call(session, ground, bytes);
  const auto run = [&](std::uint64_t turns) {
    for (; turns > 0; --turns) require(call.run(), "a collective call");
  };
  Subject subject{run};
  if (session.options().coll.modified) {
    // Requirement HB-01. The barrier, because a rank that is early would count what others write.
    subject.prepare = [&] {
      ground.write_buffers(bytes);
      require(session.ep().barrier(), "a barrier");
    };
  }
  Row row = measure(session, session.options().bench, bytes, {}, subject, raw_coll(session, ground, bytes));
  row.extra.emplace_back("runs", runs_of(session, call));
  call.end();
  return row;
}

/// Throughput of several calls at once, compared with the same calls one after the other, on the same buffers.
Row in_flight_row(Session& session, CollGround& ground, std::size_t bytes) {
  const unsigned count = session.options().coll.in_flight;
  std::vector<CollSubject> calls;
  for (unsigned i = 0; i < count; ++i) calls.emplace_back(session, ground, bytes, i);
  std::vector<Event> events(count);
  const auto at_once = [&](std::uint64_t turns) {
    for (; turns > 0; --turns) {
      for (unsigned i = 0; i < count; ++i) events[i] = calls[i].begin();
      for (Event& event : events) require(session.ep().wait(event), "a collective call");
    }
  };
  const auto one_by_one = [&](std::uint64_t turns) {
    for (; turns > 0; --turns) {
      for (CollSubject& call : calls) require(call.run(), "a collective call");
    }
  };
  // All ranks do the same operations, so their rates are not to be added up.
  const bool records = session.rank() == 0;
  const auto operations = static_cast<double>(count);
  Raw raw{std::nullopt, "none; raw_single: one after the other"};
  raw.always = true;
  raw.more.emplace_back("single", Subject{one_by_one, records, operations});
  Row row = measure(session, session.options().bench, bytes, {Unit::Kind::million_per_second, 0},
                    {at_once, records, operations}, raw);
  for (CollSubject& call : calls) call.end();
  return row;
}

}  // namespace

void collective(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  const Collective operation = operation_of(options.bench);
  const auto sizes = options.bytes.value_or(find_bench(options.bench)->bytes).sizes();
  CollGround ground(session, operation, sizes.back(), std::max(1U, options.coll.in_flight));
  std::map<std::string, std::vector<RatioAt>> ratios;  // by comparator
  for (const std::size_t bytes : sizes) {
    Row row = options.coll.overlap         ? overlap_row(session, ground, bytes)
              : options.coll.in_flight > 0 ? in_flight_row(session, ground, bytes)
                                           : blocking_row(session, ground, bytes);
    ground.describe_choice(row, bytes);
    reporter.add(row);
    if (const auto ratio = row.ratio()) ratios["raw"].push_back({bytes, *ratio});
    for (const auto& [name, value] : row.more_raws)
      ratios["raw_" + name].push_back({bytes, row.ratio_to(value.median).value_or(0)});
  }
  for (const auto& [name, over] : ratios) reporter.say(words_for(fair_means(over), "median / " + name));
}

}  // namespace aqueduct::perf
