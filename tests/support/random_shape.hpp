#pragma once

#include <aqueduct/vis_shapes.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace aqueduct::test {

/// A shape that owns its lists.
struct AnyShape {
  detail::Shape shape;
  std::vector<std::int64_t> offsets;
  std::vector<Piece> pieces;
  std::string name;

  AnyShape() = default;
  AnyShape(AnyShape&&) = default;  // the lists keep their addresses
  AnyShape& operator=(AnyShape&&) = default;

  /// The offset of each byte, in order, computed by plain loops: the model for the library.
  std::vector<std::int64_t> bytes() const {
    std::vector<std::int64_t> out;
    const auto add = [&](std::int64_t at, std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) out.push_back(at + static_cast<std::int64_t>(i));
    };
    const auto base = static_cast<std::int64_t>(shape.base);
    for (const std::int64_t offset : offsets) add(base + offset, shape.bytes);
    for (const Piece& piece : pieces) add(base + piece.offset, piece.bytes);
    if (shape.kind != detail::Shape::Kind::strided) return out;
    std::uint64_t elements = 1;
    for (std::uint32_t d = 0; d < shape.dimensions; ++d) elements *= shape.dims[d].count;
    for (std::uint64_t e = 0; e < elements; ++e) {
      std::uint64_t rest = e;
      std::int64_t at = base;
      for (std::uint32_t d = shape.dimensions; d-- > 0; rest /= shape.dims[d].count) {
        at += static_cast<std::int64_t>(rest % shape.dims[d].count) * shape.dims[d].stride;
      }
      add(at, shape.bytes);
    }
    return out;
  }
};

/// Makes shapes with a given number of bytes inside [0, room), without overlaps; the same for the same seed.
class RandomShapes {
 public:
  explicit RandomShapes(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  /// A shape of any kind, with elements of multiples of `unit` bytes, and at most `most` bytes in all.
  AnyShape any(std::uint64_t most, std::uint64_t unit = 1) {
    constexpr std::uint64_t kElements[] = {1, 2, 3, 4, 8, 12, 16, 32, 40, 100};
    const std::uint64_t bytes = unit * kElements[below(std::size(kElements))];
    return strided(bytes, most);
  }
  AnyShape strided(std::uint64_t bytes, std::uint64_t most) {
    AnyShape made;
    made.shape.bytes = bytes;
    made.shape.dimensions = static_cast<std::uint32_t>(below(5));
    std::uint64_t sum = bytes;
    auto reach = static_cast<std::int64_t>(bytes);
    std::int64_t lowest = 0;
    for (std::uint32_t i = made.shape.dimensions; i-- > 0;) {
      detail::Extent& d = made.shape.dims[i];
      d.count = 1 + below(6);
      if (d.count * sum > most) d.count = 1;
      sum *= d.count;
      // The next piece follows the inner dimensions, with or without a gap, and sometimes backwards.
      std::int64_t stride = reach + static_cast<std::int64_t>(below(3) * below(20) * bytes);
      reach += stride * static_cast<std::int64_t>(d.count - 1);
      if (below(4) == 0) stride = -stride;
      d.stride = stride;
      if (stride < 0) lowest += stride * static_cast<std::int64_t>(d.count - 1);
    }
    if (made.shape.dimensions > 1 && below(2) == 0) {  // dimensions in another order than memory's
      std::swap(made.shape.dims[0], made.shape.dims[made.shape.dimensions - 1]);
    }
    made.shape.base = static_cast<std::uint64_t>(-lowest);
    made.name =
        "strided of " + std::to_string(bytes) + " bytes, rank " + std::to_string(made.shape.dimensions);
    return made;
  }
  /// Pieces of any lengths with this total, ascending or shuffled, some of them empty.
  AnyShape vector(std::uint64_t sum, std::uint64_t unit = 1) {
    AnyShape made;
    std::int64_t at = 0;
    for (std::uint64_t left = sum; left != 0;) {
      const std::uint64_t bytes = std::min(left, below(40) * unit);
      made.pieces.push_back({at, static_cast<std::size_t>(bytes)});
      at += static_cast<std::int64_t>(bytes + below(3) * below(30) * unit);
      left -= bytes;
    }
    if (below(2) == 0) std::ranges::shuffle(made.pieces, random_);
    made.shape.kind = detail::Shape::Kind::vector;
    made.shape.list = made.pieces.data();
    made.shape.count = made.pieces.size();
    made.name = "vector of " + std::to_string(made.pieces.size());
    return made;
  }
  /// Pieces of one length, which divides the total.
  AnyShape indexed(std::uint64_t sum, std::uint64_t bytes) {
    AnyShape made;
    std::int64_t at = 0;
    const bool regular = below(3) == 0;
    for (std::uint64_t left = sum; left >= bytes && bytes != 0; left -= bytes) {
      made.offsets.push_back(at);
      at += static_cast<std::int64_t>(bytes * (regular ? 3 : 1 + below(3) * below(10)));
    }
    if (!regular && below(2) == 0) std::ranges::shuffle(made.offsets, random_);
    made.shape.kind = detail::Shape::Kind::indexed;
    made.shape.bytes = bytes;
    made.shape.list = made.offsets.data();
    made.shape.count = made.offsets.size();
    made.name = "indexed of " + std::to_string(made.offsets.size()) + " x " + std::to_string(bytes);
    return made;
  }
  /// Any shape with exactly this number of bytes.
  AnyShape of_sum(std::uint64_t sum, std::uint64_t unit = 1) {
    switch (below(4)) {
      case 0: return vector(sum, unit);
      case 1: {
        std::uint64_t bytes = unit * (1 + below(24));
        while (sum % bytes != 0) bytes -= unit;
        return indexed(sum, bytes);
      }
      case 2: {
        AnyShape made;
        made.shape.bytes = sum;
        made.name = "contiguous";
        return made;
      }
      default: {  // two dimensions that divide it
        std::uint64_t bytes = unit * (1 + below(40));
        while (sum % bytes != 0) bytes -= unit;
        std::uint64_t count = 1 + below(20);
        while (sum / bytes % count != 0) --count;
        const auto stride = static_cast<std::int64_t>(bytes * (1 + below(4)));
        AnyShape made;
        made.shape.bytes = bytes;
        made.shape.dimensions = 2;
        made.shape.dims[1] = {count, stride};
        made.shape.dims[0] = {sum / bytes / count, stride * static_cast<std::int64_t>(count + below(3))};
        made.name = "strided of sum " + std::to_string(sum);
        return made;
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace aqueduct::test
