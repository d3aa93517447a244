// Finds centres of a cloud of points that is spread over all ranks (Lloyd's k-means). In each step every rank assigns
// its points to their nearest centres, and one all-reduce adds up the sums and counts of all ranks: then all of them
// move the centres alike, and nothing else is sent. Rank 0 chooses the first centres and broadcasts them.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "common/board.hpp"
#include "common/check.hpp"
#include "common/command_line.hpp"
#include "common/stopwatch.hpp"
#include "kmeans/clusters.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace {

using example::need;
using kmeans::Point;

struct Options {
  std::uint64_t points = 200'000;  // of all ranks together
  std::uint32_t centres = 16;
  std::uint32_t steps = 50;
  std::optional<bool> check;
};

constexpr double kMostToCheck = 1e9;  // distances; chosen: seconds for one rank alone

struct Answer {
  std::vector<Point> centres;
  std::uint32_t steps = 0;
  bool at_rest = false;  // the last step has changed no point's centre
  double seconds = 0;    // of the steps
};

/// Points of the data set, spread evenly over it: the centres of the beginning.
std::vector<Point> first_centres(const Options& options) {
  std::vector<Point> centres(options.centres);
  for (std::uint64_t c = 0; c < options.centres; ++c)
    centres[c] = kmeans::point_of(c * options.points / options.centres, options.centres);
  return centres;
}

/// Steps until no point changes its centre. `add_up` makes the sums of all ranks from those of this one.
template <class AddUp>
void iterate(const Options& options, std::uint64_t first, std::uint64_t count, Answer& answer, AddUp add_up) {
  const std::vector<Point> points = kmeans::points_from(first, count, options.centres);
  std::vector<std::uint32_t> nearest(count, options.centres);  // none yet
  kmeans::Sums sums(options.centres);
  const example::Stopwatch watch;
  while (answer.steps < options.steps && !answer.at_rest) {
    sums.assign(points, answer.centres, nearest);
    add_up(sums.numbers());
    sums.move(answer.centres);
    answer.at_rest = sums.changed() == 0;
    ++answer.steps;
  }
  answer.seconds = watch.seconds();
}

Answer together(aqueduct::Endpoint& ep, const Options& options) {
  Answer answer;
  answer.centres.resize(options.centres);
  if (ep.rank() == 0) answer.centres = first_centres(options);
  need(aqueduct::broadcast(ep.world(), answer.centres), "broadcast the first centres");
  const std::uint64_t first = options.points * ep.rank() / ep.ranks();
  const std::uint64_t end = options.points * (ep.rank() + 1) / ep.ranks();
  iterate(options, first, end - first, answer, [&](std::span<std::int64_t> numbers) {
    need(aqueduct::all_reduce(ep.world(), numbers, aqueduct::ReduceOp::sum), "add up the sums");
  });
  return answer;
}

Answer alone(const Options& options) {
  Answer answer;
  answer.centres = first_centres(options);
  iterate(options, 0, options.points, answer, [](std::span<std::int64_t>) {});
  return answer;
}

/// Fails unless the answer is that of one rank alone, bit for bit: sums of whole numbers have no rounding.
void compare(const Answer& found, const Answer& right) {
  if (found.steps != right.steps)
    example::fail("kmeans: " + std::to_string(found.steps) + " steps, one rank alone needs " +
                  std::to_string(right.steps));
  for (std::size_t c = 0; c < right.centres.size(); ++c) {
    if (found.centres[c] != right.centres[c])
      example::fail("kmeans: centre " + std::to_string(c) + " differs from that of one rank alone");
  }
}

void run(aqueduct::Endpoint& ep, const Options& options) {
  example::Board board(ep);
  const Answer answer = together(ep, options);
  const double seconds = board.max(answer.seconds);
  std::vector<Point> of_rank_0 = answer.centres;
  need(aqueduct::broadcast(ep.world(), of_rank_0), "broadcast the last centres");
  if (of_rank_0 != answer.centres)
    example::fail("kmeans: rank " + std::to_string(ep.rank()) + " has other centres than rank 0");
  if (ep.rank() != 0) return;

  const double distances =
      static_cast<double>(options.points) * options.centres * answer.steps;  // that all ranks have computed
  std::printf("kmeans: %" PRIu64
              " points, %u centres, %u ranks: %u steps%s, %.1f us a step, %.1f million distances/s\n",
              options.points, options.centres, ep.ranks(), answer.steps,
              answer.at_rest ? "" : " without coming to rest", seconds * 1e6 / answer.steps,
              distances / seconds * 1e-6);
  if (!options.check.value_or(distances <= kMostToCheck)) return;
  compare(answer, alone(options));
  std::printf("kmeans: equal to the serial result\n");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line("Centres of a cloud of points (k-means), by one all-reduce in each step");
  line.number("--points", options.points, "points of all ranks together", 1, 1'000'000'000);
  line.number("--centres", options.centres, "centres", 1, 100'000);
  line.number("--steps", options.steps, "stop after this many steps", 1, 1'000'000);
  line.flag("--check", options.check, "Compare with one rank alone (default: up to 10^9 distances)");
  line.parse(argc, argv);

  auto job = need(aqueduct::Job::start(), "start the job");
  job.run_each([&](aqueduct::Endpoint& ep) { run(ep, options); });
  need(job.finish(), "finish the job");
  return 0;
}
