#include "transpose_fft/transpose.hpp"

#include "common/check.hpp"
#include "common/stopwatch.hpp"

#include <algorithm>

namespace transpose_fft {

using example::need;

namespace {

std::size_t share_size(std::size_t lines, aqueduct::Rank ranks) { return (lines + ranks - 1) / ranks; }

Share share_of(aqueduct::Rank rank, std::size_t each, std::size_t lines) {
  const std::size_t first = std::min(rank * each, lines);
  return {first, std::min(each, lines - first)};
}

}  // namespace

Transpose::Transpose(aqueduct::Endpoint& ep, const Shape& shape)
    : ranks_(ep.ranks()),
      shape_(shape),
      rows_each_(share_size(shape.rows, ranks_)),
      columns_each_(share_size(shape.columns, ranks_)),
      rows_(rows_of(ep.rank())),
      columns_(columns_of(ep.rank())),
      out_(ranks_ * rows_each_ * columns_each_),
      in_(out_.size()),
      // The same call in every step: a plan checks it, and chooses the algorithm, once.
      exchange_(need(aqueduct::all_to_all_plan(ep.world(), out_, in_), "plan the exchange of blocks")) {}

Share Transpose::rows_of(aqueduct::Rank rank) const { return share_of(rank, rows_each_, shape_.rows); }
Share Transpose::columns_of(aqueduct::Rank rank) const {
  return share_of(rank, columns_each_, shape_.columns);
}

double Transpose::run(std::span<const Complex> rows, std::span<Complex> columns) {
  for (aqueduct::Rank to = 0; to < ranks_; ++to) {
    const Share theirs = columns_of(to);
    for (std::size_t row = 0; row < rows_.count; ++row) {
      const Complex* const from = rows.data() + row * shape_.columns + theirs.first;
      Complex* const place = out_.data() + block(to) + row;
      for (std::size_t column = 0; column < theirs.count; ++column) place[column * rows_each_] = from[column];
    }
  }

  const example::Stopwatch watch;
  need(exchange_.run(), "exchange the blocks");
  const double seconds = watch.seconds();

  for (aqueduct::Rank source = 0; source < ranks_; ++source) {
    const Share theirs = rows_of(source);
    for (std::size_t column = 0; column < columns_.count; ++column) {
      std::copy_n(in_.data() + block(source) + column * rows_each_, theirs.count,
                  columns.data() + column * shape_.rows + theirs.first);
    }
  }
  return seconds;
}

}  // namespace transpose_fft
