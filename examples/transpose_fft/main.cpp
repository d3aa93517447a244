// The Fourier transform of a two-dimensional array that is spread over all ranks. Each rank transforms its rows; an
// all-to-all brings the array to ranks that have columns (see transpose.hpp); each rank transforms its columns. The
// result stays there, column after column.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "common/board.hpp"
#include "common/check.hpp"
#include "common/command_line.hpp"
#include "common/stopwatch.hpp"
#include "transpose_fft/array.hpp"
#include "transpose_fft/fft.hpp"
#include "transpose_fft/transpose.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace {

using example::fail;
using example::need;
using transpose_fft::Complex;
using transpose_fft::Fft;
using transpose_fft::Shape;
using transpose_fft::Transpose;

struct Options {
  std::vector<std::size_t> size = {600, 800};
  std::uint32_t steps = 5;
  std::optional<bool> check;
};

constexpr std::size_t kMostElements = std::size_t{1} << 26;  // chosen: 1 GiB, of all ranks together
constexpr std::size_t kMostToCheck = std::size_t{1} << 21;   // chosen: less than a second for one rank alone

/// Transforms `lines`, which have the Fft's length, one after the other.
void transform_lines(Fft& fft, std::span<Complex> lines, std::size_t count, std::size_t length) {
  for (std::size_t line = 0; line < count; ++line) fft.transform(lines.subspan(line * length, length));
}

struct Seconds {
  double all = std::numeric_limits<double>::infinity();
  double exchange = 0;
};

/// The fastest of the steps: each transforms the same input. `columns` becomes the result.
Seconds transform(aqueduct::Endpoint& ep, const Options& options, const Shape& shape, Transpose& transpose,
                  std::vector<Complex>& columns) {
  example::Board board(ep);
  const std::vector<Complex> input =
      transpose_fft::input_rows(shape, transpose.rows().first, transpose.rows().count);
  std::vector<Complex> rows(input.size());
  Fft along_rows(shape.columns);
  Fft along_columns(shape.rows);
  Seconds least;
  for (std::uint32_t step = 0; step < options.steps; ++step) {
    std::ranges::copy(input, rows.begin());
    std::ranges::fill(columns, Complex{});  // so that a step cannot leave its work to the one before
    need(ep.barrier(), "barrier");
    const example::Stopwatch watch;
    transform_lines(along_rows, rows, transpose.rows().count, shape.columns);
    const double exchange = transpose.run(rows, columns);
    transform_lines(along_columns, columns, transpose.columns().count, shape.rows);
    const double all = board.max(watch.seconds());
    const double slowest_exchange = board.max(exchange);
    if (all < least.all) least = {all, slowest_exchange};
  }
  return least;
}

void run(aqueduct::Endpoint& ep, const Options& options, const Shape& shape) {
  Transpose transpose(ep, shape);
  std::vector<Complex> columns(transpose.columns_with_padding() * shape.rows);
  const Seconds seconds = transform(ep, options, shape, transpose, columns);

  if (ep.rank() == 0) {
    const auto elements = static_cast<double>(shape.elements());
    const double operations = 5 * elements * std::log2(elements);  // the usual count for a transform
    std::printf(
        "transpose_fft: %zu x %zu array, %u ranks, %u steps: %.3f ms, %.3f of them in all_to_all, "
        "%.3f GFLOP/s\n",
        shape.rows, shape.columns, ep.ranks(), options.steps, seconds.all * 1e3, seconds.exchange * 1e3,
        operations / seconds.all * 1e-9);
  }
  if (!options.check.value_or(shape.elements() <= kMostToCheck)) {
    if (ep.rank() == 0)
      std::printf("transpose_fft: not checked; pass --check to compare with one rank alone\n");
    return;
  }

  // All padding is at the end: only the last ranks have any.
  std::vector<Complex> whole(ep.rank() == 0 ? columns.size() * ep.ranks() : 0);
  need(aqueduct::gather(ep.world(), columns, whole, 0), "gather the result on rank 0");
  if (ep.rank() != 0) return;
  const std::string wrong = transpose_fft::what_is_wrong(shape, whole);
  if (!wrong.empty()) fail("transpose_fft: " + wrong);
  std::printf("transpose_fft: agrees with the serial transform\n");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line("Fourier transform of a two-dimensional array, by one all-to-all");
  line.numbers("--size", options.size,
               "Rows, and columns if different; lengths with small prime factors are fast", 1, 1 << 16, 2);
  line.number("--steps", options.steps, "transform the input this many times; the fastest counts", 1,
              1'000'000);
  line.flag("--check", options.check, "Compare with one rank alone (default: up to 2^21 elements)");
  line.parse(argc, argv);
  const Shape shape{options.size.front(), options.size.back()};
  if (shape.elements() > kMostElements) {
    fail("--size " + std::to_string(shape.rows) + " " + std::to_string(shape.columns) + ": " +
         std::to_string(shape.elements()) + " elements, and the limit is " + std::to_string(kMostElements) +
         " (2^26); try --size 8192");
  }

  auto job = need(aqueduct::Job::start(), "start the job");
  job.run_each([&](aqueduct::Endpoint& ep) { run(ep, options, shape); });
  need(job.finish(), "finish the job");
  return 0;
}
