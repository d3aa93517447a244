// Each rank reads a random sample of a table that is spread over all ranks. A thousand tasks do it, each in straight-line
// code: while one waits for its get, the others go on. So up to a thousand gets are in flight.

#include <aqueduct/aqueduct.hpp>

#include "common/check.hpp"
#include "common/command_line.hpp"
#include "common/stopwatch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

using example::need;

namespace {

/// The word at `index` of a rank's part.
std::uint64_t word_of(aqueduct::Rank rank, std::uint64_t index) {
  return (std::uint64_t{rank} << 40) ^ (index * 0x9e3779b97f4a7c15u);
}

/// The next of a sequence of pseudo-random numbers (SplitMix64).
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

using Table = aqueduct::SegmentOf<std::uint64_t>;

struct Sample {
  std::uint64_t words = 0;  // words of each rank's part
  std::uint64_t wrong = 0;
  std::uint64_t in_flight = 0;  // gets that have begun, and whose task has not gone on
  std::uint64_t most_in_flight = 0;
};

/// Reads one word from a random place, checks it, and so on, `gets` times.
aqueduct::Task<> look_up(aqueduct::Endpoint& me, const Table& table, Sample& sample, std::uint64_t seed,
                         std::uint64_t gets) {
  for (std::uint64_t i = 0; i < gets; ++i) {
    const auto owner = static_cast<aqueduct::Rank>(next_random(seed) % me.ranks());
    const std::uint64_t index = next_random(seed) % sample.words;
    std::uint64_t word = 0;
    aqueduct::Event read = aqueduct::get_nb(me, std::span(&word, 1), table.at(owner, index));
    sample.most_in_flight = std::max(sample.most_in_flight, ++sample.in_flight);
    const aqueduct::Status status = co_await read;
    --sample.in_flight;
    need(status, "read a word");
    if (word != word_of(owner, index)) ++sample.wrong;
  }
}

void run_rank(aqueduct::Endpoint& me, std::uint64_t tasks, std::uint64_t gets, std::uint64_t words) {
  const Table table = need(aqueduct::Segment::create<std::uint64_t>(me.world(), words), "allocate the table");
  std::span<std::uint64_t> mine = table.mine();
  for (std::uint64_t i = 0; i < words; ++i) mine[i] = word_of(me.rank(), i);
  need(me.barrier(), "barrier");

  Sample sample{.words = words};
  std::vector<aqueduct::Task<>> all;
  for (std::uint64_t i = 0; i < tasks; ++i) {
    all.push_back(look_up(me, table, sample, me.rank() * tasks + i, gets));
  }
  const example::Stopwatch watch;
  need(aqueduct::run(me, all), "run the tasks");
  const double seconds = watch.seconds();
  need(me.barrier(), "barrier");  // no rank reads my words any more

  if (me.rank() == 0) {
    std::printf("coroutine_gets: %llu tasks, %u ranks, %llu gets, up to %llu in flight, %.0f ns a get\n",
                static_cast<unsigned long long>(tasks), me.ranks(),
                static_cast<unsigned long long>(tasks * gets),
                static_cast<unsigned long long>(sample.most_in_flight),
                seconds * 1e9 / static_cast<double>(tasks * gets));
  }
  if (sample.wrong != 0) {
    example::fail("rank " + std::to_string(me.rank()) + " read " + std::to_string(sample.wrong) +
                  " wrong words");
  }
  if (me.rank() == 0) std::printf("coroutine_gets: all words are right\n");
}

}  // namespace

int main(int argc, char** argv) {
  example::CommandLine line(
      "A thousand tasks on each rank read random words of a table, in straight-line code.");
  std::uint64_t tasks = 1000;
  std::uint64_t gets = 20;
  std::uint64_t words = 4096;
  line.number("--tasks", tasks, "Tasks on each rank, so gets in flight", 1, 1 << 20);
  line.number("--gets", gets, "Gets of each task, one after the other", 1, 1 << 20);
  line.number("--words", words, "Words of the table on each rank", 1, 1 << 24);
  line.parse(argc, argv);

  auto job = need(aqueduct::Job::start(), "start the job");
  job.run_each([&](aqueduct::Endpoint& me) { run_rank(me, tasks, gets, words); });
  need(job.finish(), "finish the job");
  return 0;
}
