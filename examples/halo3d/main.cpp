// A cube of cells in blocks over all ranks. In each step a rank puts its six faces into its
// neighbours' halos, each as an array section with one put_signal_nb: no face is packed by hand,
// whatever its strides. docs/vis.md explains it.

#include <aqueduct/aqueduct.hpp>

#include "common/check.hpp"
#include "common/command_line.hpp"
#include "common/stopwatch.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using aqueduct::Slice;
using example::need;
using Index = std::array<std::int64_t, 3>;
using Cell = std::uint32_t;  // sums modulo 2^32: equal on every machine, in every order

struct Options {
  std::int64_t cells = 24;  // of a block, in each dimension
  int steps = 20;
};

/// The number of blocks in each dimension, and the position of mine.
struct Blocks {
  Index count{1, 1, 1};

  explicit Blocks(aqueduct::Rank ranks) {
    for (std::int64_t factor = 2, left = ranks; left > 1;) {
      if (left % factor != 0) {
        ++factor;
        continue;
      }
      *std::min_element(count.begin(), count.end()) *= factor;
      left /= factor;
    }
  }
  Index of(aqueduct::Rank rank) const {
    const std::int64_t r = rank;
    return {r / (count[1] * count[2]), r / count[2] % count[1], r % count[2]};
  }
  /// The rank of the next block in a direction; the cube is periodic.
  aqueduct::Rank next_to(Index block, std::size_t dimension, std::int64_t way) const {
    block[dimension] = (block[dimension] + way + count[dimension]) % count[dimension];
    return static_cast<aqueduct::Rank>((block[0] * count[1] + block[1]) * count[2] + block[2]);
  }
};

Cell first_value(const Index& at) {
  return static_cast<Cell>(at[0] * 31 + at[1] * 17 + at[2] * 7 + at[0] * at[1] * at[2]);
}

/// One step: each cell becomes the sum of itself and its six neighbours.
template <class At>
Cell stepped(const At& at, std::int64_t i, std::int64_t j, std::int64_t k) {
  return at(i, j, k) + at(i - 1, j, k) + at(i + 1, j, k) + at(i, j - 1, k) + at(i, j + 1, k) +
         at(i, j, k - 1) + at(i, j, k + 1);
}

/// A block with its halo, twice: a step reads one copy and writes the other, so that a neighbour that is
/// one step ahead writes where nobody reads.
class Grid {
 public:
  Grid(aqueduct::Endpoint& ep, const Blocks& blocks, std::int64_t cells)
      : ep_(ep),
        blocks_(blocks),
        block_(blocks.of(ep.rank())),
        n_(cells),
        edge_(cells + 2),
        cube_(edge_ * edge_ * edge_),
        segment_(need(aqueduct::Segment::create<Cell>(ep.world(), 2 * static_cast<std::size_t>(cube_)),
                      "allocate the blocks")) {}

  Cell& at(int step, std::int64_t i, std::int64_t j, std::int64_t k) {
    Cell* const cells = segment_.mine().data() + (step % 2) * cube_;
    return cells[(i * edge_ + j) * edge_ + k];
  }

  void begin() {
    for (std::int64_t i = 1; i <= n_; ++i) {
      for (std::int64_t j = 1; j <= n_; ++j) {
        for (std::int64_t k = 1; k <= n_; ++k) {
          at(0, i, j, k) =
              first_value({block_[0] * n_ + i - 1, block_[1] * n_ + j - 1, block_[2] * n_ + k - 1});
        }
      }
    }
  }

  /// Sends my faces of this step to the halos of the six neighbours, and waits for theirs.
  void exchange(int step) {
    std::array<aqueduct::Event, 6> sent;
    for (std::size_t d = 0; d < 3; ++d) {
      for (const int way : {-1, 1}) {
        // My outermost layer on that side is the halo beyond the neighbour's opposite side.
        std::array<Slice, 3> face{Slice{1, n_ + 1}, Slice{1, n_ + 1}, Slice{1, n_ + 1}};
        std::array<Slice, 3> halo = face;
        face[d] = way < 0 ? Slice{1, 2} : Slice{n_, n_ + 1};
        halo[d] = way < 0 ? Slice{n_ + 1, n_ + 2} : Slice{0, 1};
        const auto neighbour = blocks_.next_to(block_, d, way);
        const auto there = aqueduct::view(
            segment_.at(neighbour, static_cast<std::uint64_t>(step % 2 * cube_)), {edge_, edge_, edge_});
        const auto here = aqueduct::view(&at(step, 0, 0, 0), {edge_, edge_, edge_});
        const aqueduct::SignalSlot slot = static_cast<aqueduct::SignalSlot>(2 * d + (way < 0 ? 0 : 1));
        sent[slot] =
            aqueduct::put_signal_nb(ep_, section(there, {halo[0], halo[1], halo[2]}),
                                    section(here, {face[0], face[1], face[2]}), {.slot = slot, .add = 1});
      }
    }
    for (aqueduct::SignalSlot slot = 0; slot < 6; ++slot) {
      const auto from = blocks_.next_to(block_, slot / 2, slot % 2 == 0 ? 1 : -1);
      need(aqueduct::wait_until(ep_, slot, static_cast<std::uint64_t>(step) + 1, from), "wait for a face");
      need(ep_.wait(sent[slot]), "send a face");
    }
  }

  void compute(int step) {
    const auto old = [&](std::int64_t i, std::int64_t j, std::int64_t k) { return at(step, i, j, k); };
    for (std::int64_t i = 1; i <= n_; ++i) {
      for (std::int64_t j = 1; j <= n_; ++j) {
        for (std::int64_t k = 1; k <= n_; ++k) at(step + 1, i, j, k) = stepped(old, i, j, k);
      }
    }
  }

  /// How many of my cells differ from the result of one rank alone.
  std::uint64_t wrong(int steps) {
    const Index all{blocks_.count[0] * n_, blocks_.count[1] * n_, blocks_.count[2] * n_};
    const auto place = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return static_cast<std::size_t>((((i + all[0]) % all[0]) * all[1] + (j + all[1]) % all[1]) * all[2] +
                                      (k + all[2]) % all[2]);
    };
    std::vector<Cell> now(static_cast<std::size_t>(all[0] * all[1] * all[2]));
    const auto each = [&](const auto& value, std::vector<Cell>& to) {
      for (std::int64_t i = 0; i < all[0]; ++i) {
        for (std::int64_t j = 0; j < all[1]; ++j) {
          for (std::int64_t k = 0; k < all[2]; ++k) to[place(i, j, k)] = value(i, j, k);
        }
      }
    };
    each([](auto i, auto j, auto k) { return first_value({i, j, k}); }, now);
    for (int step = 0; step < steps; ++step) {
      std::vector<Cell> next(now.size());
      const auto old = [&](std::int64_t i, std::int64_t j, std::int64_t k) { return now[place(i, j, k)]; };
      each([&](auto i, auto j, auto k) { return stepped(old, i, j, k); }, next);
      now.swap(next);
    }
    std::uint64_t wrong = 0;
    for (std::int64_t i = 1; i <= n_; ++i) {
      for (std::int64_t j = 1; j <= n_; ++j) {
        for (std::int64_t k = 1; k <= n_; ++k) {
          const Cell right =
              now[place(block_[0] * n_ + i - 1, block_[1] * n_ + j - 1, block_[2] * n_ + k - 1)];
          wrong += at(steps, i, j, k) != right ? 1 : 0;
        }
      }
    }
    return wrong;
  }

 private:
  aqueduct::Endpoint& ep_;
  const Blocks& blocks_;
  Index block_;
  std::int64_t n_;
  std::int64_t edge_;
  std::int64_t cube_;
  aqueduct::SegmentOf<Cell> segment_;
};

void run(aqueduct::Endpoint& ep, const Options& options) {
  const Blocks blocks(ep.ranks());
  Grid grid(ep, blocks, options.cells);
  grid.begin();
  need(ep.barrier(), "barrier");
  const example::Stopwatch watch;
  for (int step = 0; step < options.steps; ++step) {
    grid.exchange(step);
    grid.compute(step);
  }
  need(ep.barrier(), "barrier");
  const double seconds = watch.seconds();
  const std::uint64_t wrong = grid.wrong(options.steps);
  if (wrong != 0)
    example::fail("halo3d: rank " + std::to_string(ep.rank()) + " has " + std::to_string(wrong) +
                  " wrong cells");
  need(ep.barrier(), "barrier");
  if (ep.rank() != 0) return;
  std::printf("halo3d: %" PRId64 " x %" PRId64 " x %" PRId64 " blocks of %" PRId64
              "^3 cells, %d steps, %.1f us a step\n",
              blocks.count[0], blocks.count[1], blocks.count[2], options.cells, options.steps,
              options.steps > 0 ? seconds * 1e6 / options.steps : 0.0);
  std::printf("halo3d: equal to the serial result\n");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line("Six faces of a block of cells to six neighbours, as array sections");
  line.number("--cells", options.cells, "cells of a rank's block in each dimension", 1, 200);
  line.number("--steps", options.steps, "steps", 0, 100'000);
  line.parse(argc, argv);
  auto job = need(aqueduct::Job::start(), "start the job");
  job.run_each([&](aqueduct::Endpoint& ep) { run(ep, options); });
  need(job.finish(), "finish the job");
  return 0;
}
