// Adds a broadcast of its own to those of the library, and lets the tuner find out whether it is the fastest here.

#include <aqueduct/aqueduct.hpp>

#include "common/check.hpp"
#include "common/command_line.hpp"
#include "own_broadcast/greedy_tree.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

using example::need;

static void broadcast_from_all(aqueduct::Endpoint& me) {
  for (aqueduct::Rank root = 0; root < me.ranks(); ++root) {
    std::array<std::uint64_t, 4> words{};
    if (me.rank() == root) words.fill(1000 + root);
    need(aqueduct::broadcast(me.world(), std::span(words), root), "broadcast");
    for (const std::uint64_t word : words) {
      if (word != 1000 + root) example::fail("the broadcast has brought something else");
    }
  }
}

static void try_out(aqueduct::Endpoint& me, std::chrono::milliseconds time) {
  broadcast_from_all(me);
  constexpr std::array kOperations{aqueduct::Collective::broadcast};
  constexpr std::array<std::uint64_t, 1> kBytes{32};
  aqueduct::TuneOptions options;
  options.time = time;
  options.candidates = 100;  // all, this one too
  const auto report = need(aqueduct::tune(me.world(), kOperations, kBytes, options), "tune");
  broadcast_from_all(me);
  if (me.rank() != 0) return;
  for (const aqueduct::Tuned& one : report.found)
    std::printf("of %u broadcasts of 32 bytes %s is the fastest, then %s\n", one.tried, one.algorithm.c_str(),
                one.runner_up.c_str());
  std::printf("own_broadcast: all words are right\n");
}

int main(int argc, char** argv) {
  example::CommandLine line(
      "Adds an algorithm to those of broadcasts, and tunes. AQUEDUCT_COLL_BROADCAST=greedy-tree:delay=3 "
      "forces it.");
  std::int64_t milliseconds = 200;
  line.number("--milliseconds", milliseconds, "How long to tune", 1, 60'000);
  line.parse(argc, argv);

  aqueduct::Config config = aqueduct::Config::from_environment();
  need(config.add_algorithm(example::greedy_tree()), "add the algorithm");
  auto job = need(aqueduct::Job::start(config), "start the job");
  job.run_each([&](aqueduct::Endpoint& me) { try_out(me, std::chrono::milliseconds(milliseconds)); });
  need(job.finish(), "finish the job");
  return 0;
}
