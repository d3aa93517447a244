// Sorts keys that are spread over all ranks. Each rank sorts its own keys and shows samples of them to all others
// (all_gather): the samples say which part of the order becomes whose. Each rank cuts its keys into these parts, tells
// the others how large they are (all_to_all), and gets its part from everyone. Then it merges what it has got.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "common/board.hpp"
#include "common/check.hpp"
#include "common/command_line.hpp"
#include "common/stopwatch.hpp"
#include "sample_sort/keys.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using example::fail;
using example::need;
using sample_sort::Key;
using sample_sort::Piece;
using sample_sort::Place;
using Keys = aqueduct::SegmentOf<Key>;

struct Options {
  std::uint64_t keys = 2'000'000;  // of all ranks together
  std::uint64_t distinct = 0;
  std::size_t samples = 64;
};

struct Sorted {
  std::vector<Key> keys;  // this rank's part of the order
  double seconds = 0;
  double exchange_seconds = 0;
};

struct Received {
  std::vector<Key> keys;          // one run after the other, in rank order
  std::vector<std::size_t> ends;  // of the runs
};

/// Gives piece i of my keys to rank i: an all-to-all whose pieces have different sizes. Collective.
///
/// The receivers learn the sizes first, make room, and get their pieces out of the others' segments: the library's own
/// all-to-all has blocks of one size.
Received exchange(aqueduct::Endpoint& ep, const Keys& keys, const std::vector<Piece>& pieces) {
  std::vector<Piece> theirs(pieces.size());
  // Every member has sorted its keys before it calls, so the pieces that are announced here can be read.
  need(aqueduct::all_to_all(ep.world(), pieces, theirs), "tell the sizes of the pieces");
  Received received;
  std::size_t end = 0;
  for (const Piece& piece : theirs) received.ends.push_back(end += piece.count);
  received.keys.resize(end);
  // Each rank begins with the next one, so that not all read from the same rank at once.
  for (aqueduct::Rank i = 1; i <= ep.ranks(); ++i) {
    const aqueduct::Rank from = (ep.rank() + i) % ep.ranks();
    const Piece& piece = theirs[from];
    const auto room = std::span(received.keys).subspan(received.ends[from] - piece.count, piece.count);
    if (!room.empty()) need(aqueduct::get_nbi(ep, room, keys.at(from, piece.first)), "begin to get a piece");
  }
  need(ep.wait_implicit(), "get the pieces");
  need(ep.barrier(), "barrier");  // nobody reads my keys any more
  return received;
}

/// Collective. My part of `keys` is sorted too.
Sorted sort(aqueduct::Endpoint& ep, const Options& options, const Keys& keys) {
  const example::Stopwatch watch;
  const std::span<Key> mine = keys.mine();
  std::ranges::sort(mine);

  const std::vector<Place> samples = sample_sort::sample(mine, ep.rank(), options.samples);
  std::vector<Place> of_all(samples.size() * ep.ranks());
  need(aqueduct::all_gather(ep.world(), samples, of_all), "show the samples");
  const std::vector<Place> splitters = sample_sort::splitters(std::move(of_all), ep.ranks());

  const std::vector<Piece> pieces = sample_sort::cut(mine, ep.rank(), splitters);
  const example::Stopwatch exchange_watch;
  Received received = exchange(ep, keys, pieces);
  Sorted sorted;
  sorted.exchange_seconds = exchange_watch.seconds();
  sample_sort::merge(received.keys, std::move(received.ends));
  sorted.keys = std::move(received.keys);
  sorted.seconds = watch.seconds();
  return sorted;
}

/// The keys of all ranks together.
std::vector<std::uint64_t> fingerprint_of_all(aqueduct::Endpoint& ep, std::span<const Key> keys) {
  std::vector<std::uint64_t> sums = sample_sort::fingerprint(keys);
  need(aqueduct::all_reduce(ep.world(), sums, aqueduct::ReduceOp::sum), "add up the fingerprints");
  return sums;
}

/// Fails unless the ranks' keys, in rank order, are sorted. Collective.
void check_order(aqueduct::Endpoint& ep, std::span<const Key> keys) {
  const auto wrong = std::ranges::is_sorted_until(keys);
  if (wrong != keys.end()) {
    fail("sample_sort: key " + std::to_string(wrong - keys.begin()) + " of rank " +
         std::to_string(ep.rank()) + " is less than the key before it");
  }
  // The greatest key of the ranks before me. A rank without keys says 0, which is no more than any key.
  Key greatest = keys.empty() ? 0 : keys.back();
  Key before = 0;  // rank 0 keeps it
  need(aqueduct::exscan(ep.world(), std::span(&greatest, 1), std::span(&before, 1), aqueduct::ReduceOp::max),
       "compare with the ranks before");
  if (!keys.empty() && keys.front() < before)
    fail("sample_sort: the first key of rank " + std::to_string(ep.rank()) +
         " is less than one of a rank before it");
}

void run(aqueduct::Endpoint& ep, const Options& options) {
  example::Board board(ep);
  const std::uint64_t first = options.keys * ep.rank() / ep.ranks();
  const std::uint64_t end = options.keys * (ep.rank() + 1) / ep.ranks();
  const auto keys = need(aqueduct::Segment::create<Key>(ep.world(), end - first),
                         "allocate the keys; if there is no memory or space, try fewer --keys");
  for (std::uint64_t i = first; i < end; ++i)
    keys.mine()[i - first] = sample_sort::key_of(i, options.distinct);
  const std::vector<std::uint64_t> given = fingerprint_of_all(ep, keys.mine());

  need(ep.barrier(), "barrier");
  const Sorted sorted = sort(ep, options, keys);
  const double seconds = board.max(sorted.seconds);
  const double exchange_seconds = board.max(sorted.exchange_seconds);
  const double most = board.max(static_cast<double>(sorted.keys.size()));

  check_order(ep, sorted.keys);
  if (fingerprint_of_all(ep, sorted.keys) != given) fail("sample_sort: the sorted keys are not those given");
  need(ep.barrier(), "barrier");  // all ranks have checked
  if (ep.rank() != 0) return;
  const auto all = static_cast<double>(options.keys);
  std::printf("sample_sort: %" PRIu64
              " keys, %u ranks: %.3f ms, %.3f of them to exchange, %.1f million keys/s, fullest rank %.2f of "
              "its fair share\n",
              options.keys, ep.ranks(), seconds * 1e3, exchange_seconds * 1e3, all / seconds * 1e-6,
              most * ep.ranks() / all);
  std::printf("sample_sort: all keys are there, in order\n");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line("Sorts keys that are spread over all ranks, by samples and one exchange");
  line.number("--keys", options.keys, "keys of all ranks together", 1, 1'000'000'000);
  line.number("--distinct", options.distinct, "keys have only this many values (0: any of 64 bits)", 0);
  line.number("--samples", options.samples, "samples of each rank: with more, the parts become more equal", 1,
              4096);
  line.parse(argc, argv);

  auto job = need(aqueduct::Job::start(), "start the job");
  job.run_each([&](aqueduct::Endpoint& ep) { run(ep, options); });
  need(job.finish(), "finish the job");
  return 0;
}
