// A token goes round a ring of all ranks by active messages: short, medium, long. Each rank adds to it.

#include <aqueduct/aqueduct.hpp>

#include "common/check.hpp"
#include "common/command_line.hpp"
#include "common/stopwatch.hpp"
#include "ring_am/ring.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace {

using example::fail;
using example::need;
using ring_am::Carrier;
using ring_am::Ring;

struct Options {
  std::uint64_t laps = 100;
  std::size_t most_bytes = 64 * 1024;
};

/// The sum that the token must have after this many hops, computed without any message.
std::uint64_t expected_sum(std::uint64_t hops, std::size_t most_words) {
  std::uint64_t sum = 0;
  if (most_words == 0) {  // no payload
    for (std::uint64_t hop = 0; hop < hops; ++hop) sum += ring_am::word_of(hop);
    return sum;
  }
  const std::uint64_t sizes = std::bit_width(most_words);  // 1, 2, 4, … up to most_words
  const std::uint64_t newest = (hops - 1) % sizes;         // the payload has 2^newest words
  for (std::uint64_t i = 0; i <= newest; ++i) {
    const std::uint64_t copies = i == 0 ? 1 : std::uint64_t{1} << (i - 1);
    sum += copies * ring_am::word_of(hops - 1 - newest + i);
  }
  return sum;
}

void go_round(aqueduct::Endpoint& ep, Ring& ring, Carrier carrier, const char* name, std::uint64_t laps) {
  ring.reset();
  need(ep.barrier(), "barrier");
  const example::Stopwatch watch;
  for (std::uint64_t lap = 0; lap < laps; ++lap) {
    if (ep.rank() != 0) ring.take(carrier);
    ring.hand_on(carrier);
    if (ep.rank() == 0) ring.take(carrier);
  }
  const double seconds = watch.seconds();
  need(ep.barrier(), "barrier");
  if (ep.rank() != 0) return;

  const std::uint64_t hops = laps * ep.ranks();
  const std::size_t most_words = ring.most_words(carrier);
  if (ring.token().hop != hops) fail("the token has gone " + std::to_string(ring.token().hop) + " hops");
  if (ring.token().sum != expected_sum(hops, most_words)) fail("the token's sum is wrong");
  const std::size_t largest = std::bit_floor(most_words) * sizeof(std::uint64_t);
  std::printf("ring_am: %-6s %u ranks, %llu hops, payload up to %zu bytes: %.3f us a hop\n", name, ep.ranks(),
              static_cast<unsigned long long>(hops), largest, seconds / static_cast<double>(hops) * 1e6);
}

void run(aqueduct::Endpoint& ep, const Options& options) {
  Ring ring(ep, options.most_bytes);
  go_round(ep, ring, Carrier::short_am, "short", options.laps);
  go_round(ep, ring, Carrier::medium_am, "medium", options.laps);
  go_round(ep, ring, Carrier::long_am, "long", options.laps);
  if (ep.rank() == 0) std::printf("ring_am: all sums are right\n");
}

}  // namespace

int main(int argc, char** argv) {
  example::CommandLine line(
      "Sends a token of growing payload round a ring of all ranks, by active messages.");
  Options options;
  line.number("--laps", options.laps, "How often round the ring, for each kind of message", 1, 1 << 24);
  line.number("--bytes", options.most_bytes, "The payload's bound, where the kind of message allows it", 8,
              1 << 24);
  line.parse(argc, argv);

  auto job = need(aqueduct::Job::start(), "start the job");
  job.run_each([&](aqueduct::Endpoint& ep) { run(ep, options); });
  need(job.finish(), "finish the job");
  return 0;
}
