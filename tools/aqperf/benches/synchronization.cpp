#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/measure/patience.hpp"
#include "tools/aqperf/raw/raw_cacheline.hpp"

#include <atomic>

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

// Like ib_write_lat of perftest: each side learns of a put only by looking at its own memory.
void put_pingpong(Session& session, Reporter& reporter) {
  auto& ep = session.ep();
  const Role role = session.pair();
  auto& word = *reinterpret_cast<std::uint64_t*>(session.mine().data());
  word = 0;
  require(ep.barrier(), "barrier");
  const Patience patience(session, Patience::kRounds);
  std::uint64_t turn = 0;
  const auto seen = [&] { return std::atomic_ref(word).load(std::memory_order_acquire) >= turn; };
  const auto send = [&] {
    require(put_value_nbi(ep, session.target(role.peer).as<std::uint64_t>(), turn), "put_value_nbi");
  };
  const auto receive = [&] {
    patience.until([&] {
      if (seen()) return true;
      if (ep.progress() == 0 && ep.is_lost(role.peer)) require({ErrorCode::peer_lost, role.peer}, "a put");
      return seen();
    });
  };
  const auto run = [&](std::uint64_t turns) {
    for (; turns > 0 && role.peer != kNoRank; --turns) {
      ++turn;
      if (role.active) send();
      receive();
      if (!role.active) send();
    }
    require(ep.wait_implicit(), "wait_implicit");
  };
  reporter.add(measure(session, session.options().bench, sizeof word, {}, {run, role.active},
                       raw_answer(session, session.pair(), sizeof word)));
}

}  // namespace aqueduct::perf
