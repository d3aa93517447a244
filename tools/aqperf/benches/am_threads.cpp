#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/measure/patience.hpp"
#include "tools/aqperf/measure/sampler.hpp"
#include "tools/aqperf/raw/raw_memory.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

// What it costs that several threads use one endpoint.

namespace aqueduct::perf {

namespace {

/// Messages in a train. Chosen: it takes milliseconds, so that the threads' start and end do not matter.
constexpr std::uint64_t kTrainOfThreads = 20'000;

/// What the handlers of a rank have counted. One handler runs at a time, but other threads read it.
struct Trains {
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> ended{0};
  Status status;
};

/// Threads that stay, and do what they are told together with the caller.
class Crew {
 public:
  /// `job(i, amount)` is called on thread i of `size`; thread 0 is the caller of `run`.
  Crew(unsigned size, const Session& session, const Patience& patience,
       std::function<void(std::uint64_t)> job)
      : patience_(patience), job_(std::move(job)) {
    for (unsigned i = 1; i < size; ++i) {
      threads_.emplace_back([this, &session] {
        session.run_on_any_core();
        follow();
      });
    }
  }
  ~Crew() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void run(std::uint64_t amount) {
    const auto size = threads_.size() + 1;
    share_ = amount / size;
    working_ = threads_.size();
    round_.fetch_add(1);
    job_(amount - share_ * (size - 1));
    patience_.until([&] { return working_ == 0; });
  }

 private:
  void follow() {
    for (std::uint64_t seen = 0;;) {
      patience_.until([&] { return over_ || round_ != seen; });
      if (over_) return;
      ++seen;
      job_(share_);
      working_.fetch_sub(1);
    }
  }

  const Patience& patience_;
  std::function<void(std::uint64_t)> job_;
  std::uint64_t share_ = 0;  // written before round_, read after it
  std::atomic<std::uint64_t> round_{0};
  std::atomic<std::size_t> working_{0};
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

/// Threads that only take cores, as long as it lives.
class Spinners {
 public:
  Spinners(unsigned count, const Session& session) {
    for (unsigned i = 0; i < count; ++i) {
      threads_.emplace_back([this, &session] {
        session.run_on_any_core();
        while (!over_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~Spinners() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Spinners(const Spinners&) = delete;
  Spinners& operator=(const Spinners&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

}  // namespace

void am_threads(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  auto& ep = session.ep();
  const Role role = session.pair();
  const Patience patience(session, Patience::kRounds);
  const auto trains = std::make_shared<Trains>();
  const auto handled = require(
      on_short_reply<NoArguments>(
          ep, [trains](auto&, const NoArguments&) { trains->ended.fetch_add(1, std::memory_order_relaxed); }),
      "on_short_reply");
  const auto message = require(
      on_short_request<NoArguments>(ep,
                                    [trains, handled](auto& context, const NoArguments&) {
                                      const auto n = trains->messages.load(std::memory_order_relaxed) + 1;
                                      trains->messages.store(n, std::memory_order_relaxed);
                                      if (n % kTrainOfThreads == 0) trains->status = context.reply(handled);
                                    }),
      "on_short_request");
  require(session.ep().barrier(), "barrier");

  std::mutex own;  // as a program has it around an endpoint that does not guard itself
  const auto within = [&](const auto& call) {
    if (!options.own_mutex) return call();
    const std::lock_guard lock(own);
    return call();
  };
  std::atomic<bool> failed{false};
  Status first_failure;  // written by the thread that sets `failed`
  // With several threads all of them run where the system puts them: bound to the rank's core they would take turns.
  if (role.active && options.callers + options.spinners > 1) session.run_on_any_core();
  Crew crew(role.active ? options.callers : 1, session, patience, [&](std::uint64_t messages) {
    for (; messages > 0 && !failed; --messages) {
      const Status status = within([&] { return request(ep, role.peer, message); });
      if (!status && !failed.exchange(true)) first_failure = status;
    }
  });
  const Spinners spinners(role.active ? options.spinners : 0, session);
  const auto wait = [&](const auto& holds) {
    patience.until([&] {
      if (holds()) return true;
      const bool lost = within([&] { return ep.progress() == 0 && ep.is_lost(role.peer); });
      if (lost) require(Status{ErrorCode::peer_lost, role.peer}, "a reply");
      return holds();
    });
  };
  std::uint64_t expected = 0;
  const auto run = [&](std::uint64_t turns) {
    if (role.active) {
      for (; turns > 0; --turns) {
        const std::uint64_t awaited = trains->ended + 1;
        crew.run(kTrainOfThreads);
        if (failed) require(first_failure, "request");
        wait([&] { return trains->ended >= awaited; });
      }
    } else if (role.passive) {
      expected += turns * kTrainOfThreads;
      wait([&] { return trains->messages >= expected; });
      require(trains->status, "reply");
    }
  };
  reporter.add(measure(session, options.bench, 0, {Unit::Kind::million_per_second, 0},
                       {run, role.active, static_cast<double>(kTrainOfThreads)},
                       {std::nullopt, "none: the machine has nothing that runs a handler"}));
}

void entry_cost(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  auto& ep = session.ep();
  std::uint64_t bytes = 0;
  const auto run = [&](std::uint64_t turns) {
    for (; turns > 0; --turns) bytes += ep.segment_bytes(ep.rank());
  };
  reporter.add(
      measure(session, options.bench, 0, {}, {run}, {std::nullopt, "none: it is the library's own"}));
  use(bytes);  // so that the calls are not left out
}

}  // namespace aqueduct::perf
