// Heat spreads over a plate. Each rank has a block of rows and exchanges its outer rows with the ranks above and
// below it, by puts that raise a signal counter (see halo.hpp).

#include <aqueduct/aqueduct.hpp>

#include "common/board.hpp"
#include "common/check.hpp"
#include "common/command_line.hpp"
#include "common/stopwatch.hpp"
#include "heat2d/grid.hpp"
#include "heat2d/halo.hpp"
#include "heat2d/image.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace {

using example::fail;
using example::need;
using heat2d::row_of;
using Field = std::vector<float>;

struct Options {
  std::vector<std::size_t> size = {512};
  std::size_t steps = 200;
  std::string image;
  std::string out;
  std::optional<bool> check;
};

// Up to this size the serial computation is quick enough to run every time.
constexpr std::size_t kCheckedCells = 1024 * 1024;

/// One time step of my block, from `now` to `next`. Cells that need no halo
/// row are computed while the halo rows travel.
void step_block(heat2d::Halo& halo, std::uint64_t step, std::size_t columns, const Field& now, Field& next) {
  const std::size_t last = now.size() / columns - 1;
  halo.send(step, row_of(now, columns, 0), row_of(now, columns, last));
  for (std::size_t row = 1; row < last; ++row) {
    heat2d::step_row(row_of(now, columns, row - 1), row_of(now, columns, row), row_of(now, columns, row + 1),
                     row_of(next, columns, row));
  }
  halo.wait(step);
  const auto first_row = row_of(now, columns, 0);
  const auto last_row = row_of(now, columns, last);
  const auto above = halo.above(step).value_or(first_row);
  const auto below = halo.below(step).value_or(last_row);
  heat2d::step_row(above, first_row, last == 0 ? below : row_of(now, columns, 1), row_of(next, columns, 0));
  if (last > 0) {
    heat2d::step_row(row_of(now, columns, last - 1), last_row, below, row_of(next, columns, last));
  }
}

std::uint64_t checksum(const Field& field) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const std::byte byte : std::as_bytes(std::span(field))) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211u;
  }
  return hash;
}

/// On rank 0, with all rows gathered: ends the program if the result is wrong.
void compare(const heat2d::Shape& shape, const Field& expected, const Field& field) {
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (std::memcmp(&expected[i], &field[i], sizeof(float)) == 0) continue;
    std::array<char, 160> why{};
    std::snprintf(why.data(), why.size(), "row %zu, column %zu is %.9g, but %.9g in the serial computation",
                  i / shape.columns, i % shape.columns, static_cast<double>(field[i]),
                  static_cast<double>(expected[i]));
    fail(why.data());
  }
  std::printf("heat2d: equal to the serial result\n");
}

void run(aqueduct::Endpoint& ep, const Options& options) {
  example::Board board(ep);
  const bool is_root = ep.rank() == 0;

  // Only rank 0 reads the image; it tells the others the size.
  heat2d::Image image;
  if (is_root && !options.image.empty()) image = heat2d::read_image(options.image);
  heat2d::Shape shape{options.size.front(), options.size.back()};
  if (!options.image.empty()) {
    shape.rows = static_cast<std::size_t>(board.of_rank_0(static_cast<double>(image.shape.rows)));
    shape.columns = static_cast<std::size_t>(board.of_rank_0(static_cast<double>(image.shape.columns)));
  }
  if (shape.rows < ep.ranks()) {
    fail("the plate has " + std::to_string(shape.rows) + " rows, which is less than one for each of " +
         std::to_string(ep.ranks()) + " ranks; choose a larger --size or --image, or fewer ranks");
  }
  const bool check = options.check.value_or(shape.cells() <= kCheckedCells);

  // The whole plate goes into rank 0's part of a segment, if it is needed; the others' parts are empty.
  const bool is_gathered = check || !options.out.empty() || !options.image.empty();
  const std::size_t whole_cells = is_root && is_gathered ? shape.cells() : 0;
  const auto whole =
      need(aqueduct::Segment::create<float>(ep.world(), whole_cells), "allocate the plate on rank 0");
  heat2d::Halo halo(ep, shape.columns);

  const auto rows = heat2d::rows_of(ep.rank(), ep.ranks(), shape.rows);
  const auto my_rows = whole.at(0, rows.first * shape.columns);
  Field now = heat2d::initial_rows(shape, rows);
  if (!options.image.empty()) {
    if (is_root) std::ranges::copy(image.field, whole.mine().begin());
    need(ep.barrier(), "barrier");
    need(aqueduct::get(ep, now, my_rows), "read my rows of the image");
  }
  Field next(now.size());

  need(ep.barrier(), "barrier");
  const example::Stopwatch watch;
  for (std::uint64_t step = 0; step < options.steps; ++step) {
    step_block(halo, step, shape.columns, now, next);
    now.swap(next);
  }
  need(ep.barrier(), "barrier");
  const double seconds = board.max(watch.seconds());  // of the rank that started first

  if (is_gathered) need(aqueduct::put(ep, my_rows, now), "send my rows to rank 0");
  need(ep.barrier(), "barrier");
  if (!is_root) return;

  const double updates = static_cast<double>(shape.cells()) * static_cast<double>(options.steps);
  std::printf("heat2d: %zu x %zu cells, %zu steps, %u ranks: %.3f s, %.1f million cell updates/s\n",
              shape.rows, shape.columns, options.steps, ep.ranks(), seconds, updates / seconds * 1e-6);
  if (!is_gathered) return;
  const Field field(whole.mine().begin(), whole.mine().end());
  std::printf("heat2d: checksum %016" PRIx64 "\n", checksum(field));
  if (!options.out.empty()) heat2d::write_png(options.out, shape, field);
  if (check) {
    if (options.image.empty()) image.field = heat2d::initial_rows(shape, {0, shape.rows});
    compare(shape, heat2d::solve_alone(shape, std::move(image.field), options.steps), field);
  }
}

}  // namespace

int main(int argc, char** argv) {
  example::CommandLine line("Spreads heat over a plate whose rows are shared among the ranks.");
  Options options;
  line.numbers("--size", options.size, "Rows, and columns if different", 1, 1 << 16, 2);
  line.number("--steps", options.steps, "Time steps");
  line.text("--image", options.image, "PNG or PGM to begin with; its size is the plate's");
  line.exclude("--image", "--size");
  line.text("--out", options.out, "PNG to write in the end");
  line.flag("--check", options.check,
            "Compare with the serial computation (by default up to 1024 x 1024 cells)");
  line.parse(argc, argv);

  auto job = need(aqueduct::Job::start(), "start the job");
  job.run_each([&](aqueduct::Endpoint& ep) { run(ep, options); });
  need(job.finish(), "finish the job");
  return 0;
}
