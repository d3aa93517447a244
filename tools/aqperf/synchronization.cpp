#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/raw_cacheline.hpp"

namespace aqueduct::perf {

void barrier(Session& session, Reporter& reporter) {
  auto& ep = session.ep();
  const auto run = [&](std::uint64_t turns) {
    for (; turns > 0; --turns) require(ep.barrier(), "barrier");
  };
  reporter.add(
      measure(session, session.options().bench, 0, {}, {run}, raw_answer(session, session.pair(), 0)));
}

void signal_latency(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  auto& ep = session.ep();
  const Role role = session.pair();
  constexpr SignalSlot kSlot = 0;
  std::uint64_t turn = signal_value(ep, kSlot);
  for (const std::size_t bytes : options.bytes.value_or(find_bench(options.bench)->bytes).sizes()) {
    const auto from = std::span<const std::byte>(session.buffer()).first(bytes);
    const auto send = [&] {
      require(put_signal(ep, session.target(role.peer), from, {kSlot, 1}), "put_signal");
    };
    const auto receive = [&] { require(wait_until(ep, kSlot, ++turn, role.peer), "wait_until"); };
    const auto run = [&](std::uint64_t turns) {
      for (; turns > 0 && role.peer != kNoRank; --turns) {
        if (role.active) send();
        receive();
        if (!role.active) send();
      }
    };
    reporter.add(measure(session, options.bench, bytes, {}, {run, role.active},
                         raw_answer(session, session.pair(), bytes)));
  }
}

}  // namespace aqueduct::perf
