#include <aqueduct/coroutine.hpp>

#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/measure/sampler.hpp"

#include <cstdint>
#include <span>
#include <vector>

// What it costs to write many operations in flight as straight-line code.

namespace aqueduct::perf {

namespace {

/// Gets a word `gets` times, one after the other.
Task<> get_one_by_one(Endpoint& ep, GlobalPtr<std::uint64_t> from, std::span<std::uint64_t> to,
                      std::uint64_t gets) {
  for (; gets > 0; --gets) {
    Event got = get_nb(ep, to, from);
    require(co_await got, "a get of a task");
  }
}

}  // namespace

void coroutine_gets(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  Endpoint& ep = session.ep();
  const Role role = session.pair();
  const std::size_t window = options.window;
  std::vector<std::uint64_t> words(window);
  const auto place = [&](std::size_t i) { return std::span(words).subspan(i, 1); };
  const auto from = session.target(role.active ? role.peer : session.rank()).as<std::uint64_t>();

  std::vector<Task<>> tasks;
  const auto by_tasks = [&](std::uint64_t turns) {
    if (!role.active) return;
    tasks.clear();
    for (std::size_t i = 0; i < window; ++i) tasks.push_back(get_one_by_one(ep, from, place(i), turns));
    require(run(ep, tasks), "run");
  };
  std::vector<Event> events(window);
  const auto by_loop = [&](std::uint64_t turns) {
    if (!role.active) return;
    for (; turns > 0; --turns) {
      for (std::size_t i = 0; i < window; ++i) {
        require(ep.wait(events[i]), "wait");
        events[i] = get_nb(ep, place(i), from);
      }
    }
    for (Event& event : events) require(ep.wait(event), "wait");
  };
  const auto gets = static_cast<double>(window);
  const Raw raw{Subject{by_loop, role.active, gets}, "a loop over as many Events", {}, /*always=*/true};
  reporter.add(
      measure(session, options.bench, sizeof(std::uint64_t), {}, {by_tasks, role.active, gets}, raw));
}

}  // namespace aqueduct::perf
