#include "vis/cursor.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::vis {
namespace {

const std::int64_t* offsets_of(const Shape& shape) noexcept {
  return static_cast<const std::int64_t*>(shape.list);
}
const Piece* pieces_of(const Shape& shape) noexcept { return static_cast<const Piece*>(shape.list); }

}  // namespace

Cursor::Cursor(const Shape& shape, std::uint64_t total, std::uint64_t origin) noexcept
    : shape_(&shape), origin_(origin + shape.base), left_(total) {
  if (shape.kind == Shape::Kind::strided) at_ = origin_;
}

Row Cursor::row() noexcept {
  const Shape& shape = *shape_;
  switch (shape.kind) {
    case Shape::Kind::strided: {
      if (within_ != 0) return {at_ + within_, shape.bytes - within_, 0, 1};
      if (shape.dimensions == 0) return {at_, shape.bytes, 0, 1};
      const std::size_t inner = shape.dimensions - 1;
      return {at_, shape.bytes, shape.dims[inner].stride, shape.dims[inner].count - index_[inner]};
    }
    case Shape::Kind::indexed: {
      const std::int64_t* offsets = offsets_of(shape) + at_;
      if (within_ == 0) return {origin_, shape.bytes, 0, shape.count - at_, offsets};
      return {origin_ + static_cast<std::uint64_t>(*offsets) + within_, shape.bytes - within_, 0, 1};
    }
    default: {
      const Piece* piece = pieces_of(shape) + at_;
      for (; piece->bytes == 0; ++piece) ++at_;  // empty pieces are legal
      return {origin_ + static_cast<std::uint64_t>(piece->offset) + within_, piece->bytes - within_, 0, 1};
    }
  }
}

Piece Cursor::run() noexcept {
  const Row row = this->row();
  return {static_cast<std::int64_t>(row.place(0)), static_cast<std::size_t>(row.bytes)};
}

void Cursor::next_pieces(std::uint64_t pieces) noexcept {
  const Shape& shape = *shape_;
  if (shape.kind != Shape::Kind::strided) {
    at_ += pieces;
    return;
  }
  if (shape.dimensions == 0 || pieces == 0) return;
  std::size_t d = shape.dimensions - 1;
  index_[d] += pieces;
  at_ += pieces * static_cast<std::uint64_t>(shape.dims[d].stride);
  while (index_[d] >= shape.dims[d].count && d > 0) {
    // `step` moves at most to the end of a row, and `skip` divides, so each dimension carries at most once.
    at_ -= index_[d] * static_cast<std::uint64_t>(shape.dims[d].stride);
    index_[d] = 0;
    --d;
    ++index_[d];
    at_ += static_cast<std::uint64_t>(shape.dims[d].stride);
  }
}

void Cursor::step(std::uint64_t bytes) noexcept {
  const Shape& shape = *shape_;
  left_ -= bytes;
  within_ += bytes;
  const std::uint64_t piece = shape.kind == Shape::Kind::vector ? pieces_of(shape)[at_].bytes : shape.bytes;
  if (within_ < piece) return;
  if (within_ == piece) {
    within_ = 0;
    next_pieces(1);
    return;
  }
  const std::uint64_t pieces = within_ / piece;
  within_ -= pieces * piece;
  next_pieces(pieces);
}

void Cursor::skip(std::uint64_t bytes) noexcept {
  const Shape& shape = *shape_;
  if (shape.kind != Shape::Kind::strided) {
    while (bytes != 0) {
      const Row here = row();
      const std::uint64_t most = here.count * here.bytes;
      const std::uint64_t now = std::min(bytes, most);
      step(now);
      bytes -= now;
    }
    return;
  }
  if (bytes == 0) return;
  left_ -= bytes;
  const std::uint64_t sum = within_ + bytes;
  std::uint64_t pieces = sum / shape.bytes;
  within_ = sum % shape.bytes;
  for (std::size_t d = shape.dimensions; d-- > 0;) {
    const std::uint64_t count = shape.dims[d].count;
    const std::uint64_t raised = index_[d] + pieces;
    pieces = d > 0 ? raised / count : 0;
    const std::uint64_t index = d > 0 ? raised % count : raised;
    at_ += (index - index_[d]) * static_cast<std::uint64_t>(shape.dims[d].stride);
    index_[d] = index;
  }
}

}  // namespace aqueduct::vis
