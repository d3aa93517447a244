#pragma once

#include <aqueduct/byte_count.hpp>
#include <aqueduct/global_ptr.hpp>
#include <aqueduct/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace aqueduct {

/// A contiguous piece. Units: bytes; the offset counts from the base with which the shape is used.
struct Piece {
  std::int64_t offset = 0;
  std::size_t bytes = 0;
};

/// A contiguous piece, named by its address.
template <class Void>
struct PieceAt {
  Void* at = nullptr;
  std::size_t bytes = 0;
};
using LocalPiece = PieceAt<void>;
using LocalConstPiece = PieceAt<const void>;

/// One dimension of a strided shape. Units: `count` is in elements; `stride` is in bytes from one element to the
/// next, and may be negative or zero.
struct Dimension {
  std::uint64_t count = 0;
  std::int64_t stride = 0;
};

/// The largest number of dimensions that a strided shape has in one step. A Strided may have more: the slowest ones
/// become a loop over such shapes.
inline constexpr std::size_t kMostDimensions = 16;

struct Strided;

namespace detail {

/// A Dimension without default values, so that arrays of them are not initialised.
struct Extent {
  std::uint64_t count;
  std::int64_t stride;
};

/// The common form of all shapes, on which vis/ works. A copy takes only the dimensions in use, and shares the list.
struct Shape {
  enum class Kind : std::uint8_t { strided, indexed, vector };
  std::uint64_t base = 0;      ///< an address, or an offset in a segment
  std::uint64_t bytes = 0;     ///< length of each piece; unused by a vector
  const void* list = nullptr;  ///< offsets (indexed) or Pieces (vector)
  std::uint64_t count = 0;     ///< length of the list
  std::uint32_t dimensions =
      0;  ///< of a strided shape; more than kMostDimensions are an error, and not stored
  Kind kind = Kind::strided;
  ErrorCode problem = ErrorCode::ok;  ///< a mistake found earlier; the operation that uses it returns it
  std::array<Extent, kMostDimensions> dims;  ///< the outermost first; uninitialised beyond `dimensions`

  Shape() noexcept {}
  Shape(const Shape& other) noexcept { *this = other; }
  Shape& operator=(const Shape& other) noexcept {
    base = other.base;
    bytes = other.bytes;
    list = other.list;
    count = other.count;
    dimensions = other.dimensions;
    kind = other.kind;
    problem = other.problem;
    for (std::size_t i = 0; i < dimensions && i < kMostDimensions; ++i) dims[i] = other.dims[i];
    return *this;
  }
};

/// Dimensions beyond those of a Shape, the outermost first.
using Slowest = std::shared_ptr<const std::vector<Dimension>>;
/// Fills in a Strided with more than kMostDimensions dimensions: merges them, and keeps what is left.
void keep_many(Strided& strided, std::size_t element_bytes, std::span<const Dimension> dims) noexcept;

}  // namespace detail

/// Pieces of any lengths, in order.
///
/// Lifetime: the list, like the data, until the operation completes: it is not copied.
struct Vector {
  std::span<const Piece> pieces;
};

/// Pieces of one length, in order. Lifetime: as Vector.
struct Indexed {
  std::span<const std::int64_t> offsets;  ///< bytes from the base
  std::size_t bytes = 0;                  ///< length of each piece
};

/// Elements at regular distances: nested loops over `dims`, of which the first is the outermost.
///
/// Shape:    no dimensions mean one element; a count of zero means no element. Any number of dimensions.
/// Lifetime: copied at the call.
/// Cost:     up to kMostDimensions none. With more, the constructor merges dimensions that continue one another; if
///           more are left, it allocates, and a transfer goes in one step for each index of the slowest ones.
struct Strided {
  Strided(std::size_t element_bytes, std::initializer_list<Dimension> dims) noexcept
      : Strided(element_bytes, std::span<const Dimension>(dims.begin(), dims.size())) {}
  Strided(std::size_t element_bytes, std::span<const Dimension> dims) noexcept {
    if (dims.size() > kMostDimensions) [[unlikely]] {
      detail::keep_many(*this, element_bytes, dims);
      return;
    }
    shape.bytes = element_bytes;
    shape.dimensions = static_cast<std::uint32_t>(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) shape.dims[i] = {dims[i].count, dims[i].stride};
  }
  detail::Shape shape;      ///< the fastest dimensions
  detail::Slowest slowest;  ///< the others; null: there are none
};

/// One side of a transfer: a shape at a base. `Base` is GlobalPtr<std::byte> or std::byte*; or one of these to const, for a side
/// that is only read.
template <class Base>
class Pieces {
 public:
  Pieces(Base base, const detail::Shape& shape, detail::Slowest slowest = {}) noexcept
      : base_(base), shape_(shape), slowest_(std::move(slowest)) {}
  /// Converts a side that may be written to one that is only read.
  template <class Other>
    requires((std::is_same_v<Other, std::byte*> && std::is_same_v<Base, const std::byte*>) ||
             (std::is_same_v<Other, GlobalPtr<std::byte>> &&
              std::is_same_v<Base, GlobalPtr<const std::byte>>))
  Pieces(const Pieces<Other>& other)
  noexcept : Pieces(other.base(), other.shape(), other.slowest()) {}

  Base base() const noexcept { return base_; }
  /// The shape, to which `base` has not been added yet.
  const detail::Shape& shape() const noexcept { return shape_; }
  /// The dimensions outside of the shape's; null if there are none.
  const detail::Slowest& slowest() const noexcept { return slowest_; }

 private:
  Base base_;
  detail::Shape shape_;
  detail::Slowest slowest_;
};

using RemotePieces = Pieces<GlobalPtr<std::byte>>;
using RemoteConstPieces = Pieces<GlobalPtr<const std::byte>>;
using LocalPieces = Pieces<std::byte*>;
using LocalConstPieces = Pieces<const std::byte*>;

namespace detail {

inline Shape shape_of(const Vector& vector) noexcept {
  Shape shape;
  shape.kind = Shape::Kind::vector;
  shape.list = vector.pieces.data();
  shape.count = vector.pieces.size();
  return shape;
}
inline Shape shape_of(const Indexed& indexed) noexcept {
  Shape shape;
  shape.kind = Shape::Kind::indexed;
  shape.bytes = indexed.bytes;
  shape.list = indexed.offsets.data();
  shape.count = indexed.offsets.size();
  return shape;
}
inline const Shape& shape_of(const Strided& strided) noexcept { return strided.shape; }
inline Shape shape_of(std::size_t bytes) noexcept {
  Shape shape;
  shape.bytes = bytes;
  return shape;
}

inline std::byte* bytes_at(void* at) noexcept { return static_cast<std::byte*>(at); }
inline const std::byte* bytes_at(const void* at) noexcept { return static_cast<const std::byte*>(at); }
template <class T>
using ByteOf = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
template <class T>
GlobalPtr<ByteOf<T>> bytes_at(GlobalPtr<T> at) noexcept {
  return {at.rank(), at.offset(), at.segment()};
}
template <class Base>
using PiecesAt = Pieces<decltype(bytes_at(std::declval<Base>()))>;

// Lists of addresses are used as lists of offsets from address 0.
static_assert(sizeof(void*) == sizeof(std::int64_t) && sizeof(LocalPiece) == sizeof(Piece));

}  // namespace detail

// `pieces` makes one side of a transfer: `base` is a GlobalPtr (remote) or a pointer (local). At a base to const the side is only
// read: a put to it does not compile.

template <class Base>
detail::PiecesAt<Base> pieces(Base base, const Vector& shape) noexcept {
  return {detail::bytes_at(base), detail::shape_of(shape)};
}
template <class Base>
detail::PiecesAt<Base> pieces(Base base, const Indexed& shape) noexcept {
  return {detail::bytes_at(base), detail::shape_of(shape)};
}
template <class Base>
detail::PiecesAt<Base> pieces(Base base, const Strided& shape) noexcept {
  return {detail::bytes_at(base), shape.shape, shape.slowest};
}
/// One contiguous piece: `count` elements.
template <class T>
detail::PiecesAt<GlobalPtr<T>> contiguous(GlobalPtr<T> base, std::size_t count) noexcept {
  return {detail::bytes_at(base), detail::shape_of(detail::byte_count(count, sizeof(T)))};
}
template <class T>
detail::PiecesAt<T*> contiguous(T* base, std::size_t count) noexcept {
  return {detail::bytes_at(base), detail::shape_of(detail::byte_count(count, sizeof(T)))};
}
/// Local pieces, named by their addresses. Lifetime: the list until completion.
inline LocalPieces pieces(std::span<const LocalPiece> list) noexcept {
  return {nullptr, detail::shape_of(Vector{{reinterpret_cast<const Piece*>(list.data()), list.size()}})};
}
inline LocalConstPieces pieces(std::span<const LocalConstPiece> list) noexcept {
  return {nullptr, detail::shape_of(Vector{{reinterpret_cast<const Piece*>(list.data()), list.size()}})};
}
/// Local elements, named by their addresses. Lifetime: the list until completion.
template <class T>
detail::PiecesAt<T*> pieces(std::span<T* const> addresses) noexcept {
  const auto* offsets = reinterpret_cast<const std::int64_t*>(addresses.data());
  return {nullptr, detail::shape_of(Indexed{{offsets, addresses.size()}, sizeof(T)})};
}

}  // namespace aqueduct
