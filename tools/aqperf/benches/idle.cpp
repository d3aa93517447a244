#include <aqueduct/wait_on.hpp>

#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/failure.hpp"
#include "tools/aqperf/measure/machine.hpp"
#include "tools/aqperf/measure/session.hpp"
#include "tools/aqperf/report/report.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// How much of a processor a rank takes that waits for one which is away.

namespace aqueduct::perf {

namespace {

constexpr SignalSlot kIdleSlot = 0;

/// A way to wait for rank 0. Rank 0 calls `wake` for each other rank.
struct WayToWait {
  const char* name;
  std::function<void(std::uint64_t turn)> wait;
  std::function<void(std::uint64_t turn, Rank peer)> wake;
};

}  // namespace

void idle(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  Endpoint& ep = session.ep();
  if (ep.ranks() < 2)
    throw Failure("idle needs two ranks, of which one waits for the other: give --ranks 2 or more",
                  kUsageError);
  auto& word = *reinterpret_cast<std::uint64_t*>(session.mine().data());
  word = 0;
  std::uint64_t signals = signal_value(ep, kIdleSlot);
  const auto seen = [&word](std::uint64_t turn) {
    return std::atomic_ref(word).load(std::memory_order_acquire) == turn;
  };
  const auto store = [&](std::uint64_t turn, Rank peer) {
    require(put_value(ep, session.target(peer).as<std::uint64_t>(), turn), "put_value");
  };
  std::array ways{
      WayToWait{"barrier", [&](std::uint64_t) { require(ep.barrier(), "barrier"); }, nullptr},
      WayToWait{"wait-on",
                [&](std::uint64_t turn) {
                  require(wait_on(ep, word, Comparison::equal, turn, std::chrono::minutes(10)), "wait_on");
                },
                store},
      WayToWait{"wait-until",
                [&](std::uint64_t turn) {
                  require(ep.wait_until([&] { return seen(turn); }, std::chrono::minutes(10)), "wait_until");
                },
                store},
      WayToWait{"signal", [&](std::uint64_t) { require(wait_until(ep, kIdleSlot, ++signals), "wait_until"); },
                [&](std::uint64_t, Rank peer) {
                  require(signal(ep, peer, {kIdleSlot, 1}), "signal");
                }}};

  const auto away = options.seconds / options.repeat;
  std::array<Samples, std::size(ways)> used;  // of a processor, in nanoseconds for each second of waiting
  std::uint64_t turn = 0;
  for (int again = 0; again < options.repeat; ++again) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      ++turn;
      require(ep.barrier(), "barrier");
      double mine = 0;
      if (ep.rank() == 0) {
        std::this_thread::sleep_for(away);
        if (ways[i].wake == nullptr) ways[i].wait(turn);
        for (Rank peer = 1; ways[i].wake != nullptr && peer < ep.ranks(); ++peer) ways[i].wake(turn, peer);
      } else {
        const auto begin = std::chrono::steady_clock::now();
        const double before = process_ns();
        ways[i].wait(turn);
        mine = process_ns() - before;
        mine /= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      }
      std::vector<double> all = session.exchange(mine);
      all.erase(all.begin());
      used[i].push_back(median(all));
    }
  }
  std::array<Summary, std::size(ways)> figures;
  const Unit unit{Unit::Kind::milliseconds, 0};
  for (std::size_t i = 0; i < ways.size(); ++i) figures[i] = unit.convert(summarize({used[i]}));
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Row row;
    row.bench = options.bench + "-" + ways[i].name;
    row.conduit = ep.conduit_of(ep.ranks() - 1);
    row.ranks = ep.ranks();
    row.unit = unit;
    row.figure = figures[i];
    if (i != 0) {
      row.raw = figures[0].median;
      row.raw_mean = figures[0].mean;
      row.raw_what = "a wait in a barrier";
    }
    reporter.add(row);
  }
}

}  // namespace aqueduct::perf
