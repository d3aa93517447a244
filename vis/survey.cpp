#include "vis/survey.hpp"

#include "core/log.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace aqueduct::vis {
namespace {

// No memory is larger, so larger sums are a mistake. Below this limit, further computations cannot overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 62;

Survey bad(Problem problem) noexcept {
  Survey found;
  found.problem = problem;
  return found;
}

bool add(std::int64_t& to, std::int64_t what) noexcept {
  return !__builtin_add_overflow(to, what, &to) && to < kMost && to > -kMost;
}

// The base of a local shape is an address or 0, that of a remote shape an offset.
bool base_of(const Shape& shape, std::uint64_t origin, std::int64_t& base) noexcept {
  base = static_cast<std::int64_t>(shape.base + origin);
  return base < kMost && base > -kMost;
}

Survey survey_strided(const Shape& shape, std::uint64_t origin) noexcept {
  if (shape.dimensions > kMostDimensions) return bad(Problem::dimensions);
  Survey found;
  const auto dims = std::span(shape.dims).first(shape.dimensions);
  if (shape.bytes == 0 || std::ranges::any_of(dims, [](const Extent& d) { return d.count == 0; }))
    return found;
  std::int64_t bytes = 0;
  if (shape.bytes >= static_cast<std::uint64_t>(kMost)) return bad(Problem::elements);
  bytes = static_cast<std::int64_t>(shape.bytes);
  found.pieces = 1;
  if (!base_of(shape, origin, found.lowest)) return bad(Problem::base);
  found.highest = found.lowest;
  for (const Extent& d : dims) {
    std::int64_t reach = 0;
    if (d.count >= static_cast<std::uint64_t>(kMost) ||
        __builtin_mul_overflow(bytes, static_cast<std::int64_t>(d.count), &bytes) || bytes >= kMost) {
      return bad(Problem::counts);
    }
    if (__builtin_mul_overflow(d.stride, static_cast<std::int64_t>(d.count - 1), &reach) ||
        !add(reach < 0 ? found.lowest : found.highest, reach)) {
      return bad(Problem::strides);
    }
    found.pieces *= d.count;
  }
  if (!add(found.highest, static_cast<std::int64_t>(shape.bytes))) return bad(Problem::strides);
  found.bytes = static_cast<std::uint64_t>(bytes);
  found.runs = found.pieces;
  found.rising = found.pieces == 1;
  return found;
}

template <class At>
Survey survey_list(const Shape& shape, std::uint64_t origin, const At& at) noexcept {
  Survey found;
  std::int64_t base = 0;
  if (!base_of(shape, origin, base)) return bad(Problem::base);
  std::int64_t end = 0;
  std::int64_t bytes = 0;
  std::int64_t lowest = kMost;
  std::int64_t highest = -kMost;
  for (std::uint64_t i = 0; i < shape.count; ++i) {
    const Piece piece = at(i);
    if (piece.bytes == 0) continue;
    const auto length = static_cast<std::int64_t>(piece.bytes);
    if (piece.offset > kMost || piece.offset < -kMost || length < 0 || length > kMost ||
        !add(bytes, length)) {
      return bad(Problem::pieces);
    }
    lowest = std::min(lowest, piece.offset);
    highest = std::max(highest, piece.offset + length);
    found.runs += found.pieces == 0 || piece.offset != end ? 1 : 0;
    found.rising = found.rising && (found.pieces == 0 || piece.offset >= end);
    end = piece.offset + length;
    ++found.pieces;
  }
  if (found.pieces == 0) return found;
  found.bytes = static_cast<std::uint64_t>(bytes);
  if (!add(lowest, base) || !add(highest, base)) return bad(Problem::pieces);
  found.lowest = lowest;
  found.highest = highest;
  return found;
}

Piece indexed_piece(const Shape& shape, std::uint64_t i) noexcept {
  return {static_cast<const std::int64_t*>(shape.list)[i], shape.bytes};
}
Piece vector_piece(const Shape& shape, std::uint64_t i) noexcept {
  return static_cast<const Piece*>(shape.list)[i];
}

// Whether no two elements of a strided shape can overlap: with the dimensions sorted by stride, each stride is at
// least the extent of all dimensions below it.
bool nested(const Shape& shape) {
  std::vector<Extent> dims(shape.dims.begin(), shape.dims.begin() + shape.dimensions);
  std::erase_if(dims, [](const Extent& d) { return d.count == 1; });
  std::ranges::sort(dims, {}, [](const Extent& d) { return std::abs(d.stride); });
  auto reach = static_cast<std::int64_t>(shape.bytes);
  for (const Extent& d : dims) {
    if (std::abs(d.stride) < reach) return false;
    reach += std::abs(d.stride) * static_cast<std::int64_t>(d.count - 1);
  }
  return true;
}

}  // namespace

Survey survey(const Shape& shape, std::uint64_t origin) noexcept {
  if (shape.problem != ErrorCode::ok) return bad(Problem::section);
  switch (shape.kind) {
    case Shape::Kind::strided: return survey_strided(shape, origin);
    case Shape::Kind::indexed:
      if (shape.bytes == 0) return {};
      return survey_list(shape, origin, [&](std::uint64_t i) { return indexed_piece(shape, i); });
    default: return survey_list(shape, origin, [&](std::uint64_t i) { return vector_piece(shape, i); });
  }
}

ErrorCode code_of(Problem problem, const Shape& shape) noexcept {
  if (problem == Problem::section) return shape.problem;
  return problem == Problem::none ? ErrorCode::ok : ErrorCode::invalid_argument;
}

std::string text_of(Problem problem, const Shape& shape) {
  const auto overflow = [](const char* what) {
    return fmt::format("{} leave the range of addresses (2^62 bytes). Are the strides in bytes?", what);
  };
  switch (problem) {
    case Problem::section:
      if (shape.problem == ErrorCode::no_memory) return "there is no memory for the list of its dimensions";
      if (shape.problem == ErrorCode::invalid_argument)
        return "no shape is of its kind, its list is null, or its member `reserved` is not 0 (aq_shape)";
      return "a slice of the section leaves the array's extents, or has step 0";
    case Problem::dimensions:
      return fmt::format("the shape has {} dimensions; at most {} are possible", shape.dimensions,
                         kMostDimensions);
    case Problem::elements: return overflow("the elements");
    case Problem::counts: return overflow("the counts");
    case Problem::strides: return overflow("the strides");
    case Problem::base: return overflow("the base and what is added to it");
    case Problem::pieces: return overflow("the pieces");
    case Problem::none: break;
  }
  return {};
}

std::string first_outside(const Shape& shape, std::uint64_t origin, std::uint64_t total,
                          std::uint64_t limit) {
  Cursor cursor(shape, total, origin);
  const auto end = static_cast<std::int64_t>(limit);
  // Chosen: the caller gets an error anyway, and should not wait long for its text.
  constexpr std::uint64_t kMostLooked = 1'000'000;
  for (std::uint64_t number = 0; cursor.remaining() != 0 && number < kMostLooked;) {
    const Row row = cursor.row();
    for (std::uint64_t i = 0; i < row.count && number < kMostLooked; ++i, ++number) {
      const auto at = static_cast<std::int64_t>(row.place(i));
      if (at >= 0 && at <= end && static_cast<std::int64_t>(row.bytes) <= end - at) continue;
      return fmt::format("piece {} (from 0, of those not empty) is bytes {} to {}", number, at,
                         at + static_cast<std::int64_t>(row.bytes) - 1);
    }
    cursor.step(row.count * row.bytes);
  }
  return "a piece";
}

bool overlaps(const Shape& shape, const Survey& survey) {
  if (survey.rising || survey.pieces < 2) return false;
  if (shape.kind == Shape::Kind::strided) {
    if (nested(shape)) return false;
    for (std::size_t i = 0; i < shape.dimensions; ++i) {
      if (shape.dims[i].count > 1 && shape.dims[i].stride == 0) return true;
    }
  }
  if (survey.pieces > kMostSorted) return false;
  std::vector<Piece> sorted;
  sorted.reserve(survey.pieces);
  for (Cursor cursor(shape, survey.bytes); cursor.remaining() != 0;) {
    sorted.push_back(cursor.run());
    cursor.step(sorted.back().bytes);
  }
  std::ranges::sort(sorted, {}, &Piece::offset);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].offset < sorted[i - 1].offset + static_cast<std::int64_t>(sorted[i - 1].bytes)) return true;
  }
  return false;
}

}  // namespace aqueduct::vis
