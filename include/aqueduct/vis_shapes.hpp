#pragma once

#include <aqueduct/global_ptr.hpp>
#include <aqueduct/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

namespace aqueduct {

/// A contiguous piece. Units: bytes, from the base that the shape is used with.
struct Piece {
  std::int64_t offset = 0;
  std::size_t bytes = 0;
};

/// A contiguous piece by its address.
template <class Void>
struct PieceAt {
  Void* at = nullptr;
  std::size_t bytes = 0;
};
using LocalPiece = PieceAt<void>;
using LocalConstPiece = PieceAt<const void>;

/// One dimension of a strided shape. Units: elements; bytes from one to the next, which may be negative or zero.
struct Dimension {
  std::uint64_t count = 0;
  std::int64_t stride = 0;
};

/// Dimensions that a strided shape may have.
inline constexpr std::size_t kMostDimensions = 16;

namespace detail {

/// A Dimension that nobody sets to zero first.
struct Extent {
  std::uint64_t count;
  std::int64_t stride;
};

/// Any of the shapes: what vis/ works with. Copied freely, the dimensions that it has only; of a list, where it is.
struct Shape {
  enum class Kind : std::uint8_t { strided, indexed, vector };
  std::uint64_t base = 0;        ///< an address, or an offset in a segment
  std::uint64_t bytes = 0;       ///< of each piece; not of a vector
  const void* list = nullptr;    ///< offsets (indexed) or Pieces (vector)
  std::uint64_t count = 0;       ///< of the list
  std::uint32_t dimensions = 0;  ///< of a strided shape; more than kMostDimensions are not kept, and an error
  Kind kind = Kind::strided;
  ErrorCode problem = ErrorCode::ok;         ///< found while it was made; said by the operation that uses it
  std::array<Extent, kMostDimensions> dims;  ///< the slowest first; those beyond `dimensions` hold nothing

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

}  // namespace detail

/// Pieces of any lengths, in order.
///
/// Lifetime: the list until the operation's completion, as the data: it is not copied.
struct Vector {
  std::span<const Piece> pieces;
};

/// Pieces of one length, in order. Lifetime: as Vector.
struct Indexed {
  std::span<const std::int64_t> offsets;  ///< bytes from the base
  std::size_t bytes = 0;                  ///< of each piece
};

/// Elements at regular distances: the nested loops over `dims`, the first being the outermost.
///
/// Shape:    without dimensions, one element; with a count of zero, nothing. At most kMostDimensions.
/// Lifetime: taken at the call.
struct Strided {
  Strided(std::size_t element_bytes, std::initializer_list<Dimension> dims) noexcept
      : Strided(element_bytes, std::span<const Dimension>(dims.begin(), dims.size())) {}
  Strided(std::size_t element_bytes, std::span<const Dimension> dims) noexcept {
    shape.bytes = element_bytes;
    shape.dimensions = static_cast<std::uint32_t>(dims.size());
    for (std::size_t i = 0; i < dims.size() && i < kMostDimensions; ++i)
      shape.dims[i] = {dims[i].count, dims[i].stride};
  }
  detail::Shape shape;
};

/// A shape at a base: one side of a transfer. `Base` is GlobalPtr<std::byte>, std::byte* or const std::byte*.
template <class Base>
class Pieces {
 public:
  Pieces(Base base, const detail::Shape& shape) noexcept : base_(base), shape_(shape) {}
  /// A target can be a source.
  template <class Other>
    requires(std::is_same_v<Other, std::byte*>&& std::is_same_v<Base, const std::byte*>)
  Pieces(const Pieces<Other>& other)
  noexcept : Pieces(other.base(), other.shape()) {}

  Base base() const noexcept { return base_; }
  /// With `base` still to be added.
  const detail::Shape& shape() const noexcept { return shape_; }

 private:
  Base base_;
  detail::Shape shape_;
};

using RemotePieces = Pieces<GlobalPtr<std::byte>>;
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
GlobalPtr<std::byte> bytes_at(GlobalPtr<T> at) noexcept {
  return {at.rank(), at.offset(), at.segment()};
}
template <class Base>
using PiecesAt = Pieces<decltype(bytes_at(std::declval<Base>()))>;

// A list of addresses is one of offsets from address 0.
static_assert(sizeof(void*) == sizeof(std::int64_t) && sizeof(LocalPiece) == sizeof(Piece));

}  // namespace detail

// The sides of a transfer: `base` is a GlobalPtr (remote) or a pointer (local).

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
  return {detail::bytes_at(base), shape.shape};
}
/// One contiguous piece: `count` elements.
template <class T>
RemotePieces contiguous(GlobalPtr<T> base, std::size_t count) noexcept {
  return {detail::bytes_at(base), detail::shape_of(count * sizeof(T))};
}
template <class T>
detail::PiecesAt<T*> contiguous(T* base, std::size_t count) noexcept {
  return {detail::bytes_at(base), detail::shape_of(count * sizeof(T))};
}
/// Local pieces by their addresses. Lifetime: the list until completion.
inline LocalPieces pieces(std::span<const LocalPiece> list) noexcept {
  return {nullptr, detail::shape_of(Vector{{reinterpret_cast<const Piece*>(list.data()), list.size()}})};
}
inline LocalConstPieces pieces(std::span<const LocalConstPiece> list) noexcept {
  return {nullptr, detail::shape_of(Vector{{reinterpret_cast<const Piece*>(list.data()), list.size()}})};
}
/// Local elements by their addresses. Lifetime: the list until completion.
template <class T>
detail::PiecesAt<T*> pieces(std::span<T* const> addresses) noexcept {
  const auto* offsets = reinterpret_cast<const std::int64_t*>(addresses.data());
  return {nullptr, detail::shape_of(Indexed{{offsets, addresses.size()}, sizeof(T)})};
}

}  // namespace aqueduct
