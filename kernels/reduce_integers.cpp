#include "kernels/reduce_loop.hpp"
#include "kernels/reduce_parts.hpp"

#include <cstdint>
#include <type_traits>

namespace aqueduct::kernels {
namespace {

/// The type in which T is added and multiplied, so that results wrap around. At least 32 bits: the product of two
/// uint16_t would be computed as int, and could overflow.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;

// The operands have the type of the elements, and so has the result.
struct IntegerSum {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return static_cast<T>(static_cast<Wrapping<T>>(left) + static_cast<Wrapping<T>>(right));
  }
};
struct IntegerProduct {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return static_cast<T>(static_cast<Wrapping<T>>(left) * static_cast<Wrapping<T>>(right));
  }
};
struct IntegerMin {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return right < left ? right : left;
  }
};
struct IntegerMax {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return left < right ? right : left;
  }
};
struct BitAnd {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return static_cast<T>(left & right);
  }
};
struct BitOr {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return static_cast<T>(left | right);
  }
};
struct BitXor {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return static_cast<T>(left ^ right);
  }
};
struct LogicalAnd {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return static_cast<T>(static_cast<int>(left != 0) & static_cast<int>(right != 0));
  }
};
struct LogicalOr {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return static_cast<T>((left | right) != 0);
  }
};
struct LogicalXor {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return static_cast<T>((left != 0) != (right != 0));
  }
};

template <class T>
Combine integer_loops(ReduceOp op, const Processor& processor) noexcept {
  using U = std::make_unsigned_t<T>;  // where the sign does not matter, two types share a function
  switch (op) {
    case ReduceOp::sum: return loops_of<U, IntegerSum>(processor);
    case ReduceOp::product: return loops_of<U, IntegerProduct>(processor);
    case ReduceOp::min: return loops_of<T, IntegerMin>(processor);
    case ReduceOp::max: return loops_of<T, IntegerMax>(processor);
    case ReduceOp::bit_and: return loops_of<U, BitAnd>(processor);
    case ReduceOp::bit_or: return loops_of<U, BitOr>(processor);
    case ReduceOp::bit_xor: return loops_of<U, BitXor>(processor);
    case ReduceOp::logical_and: return pairs_of<U, LogicalAnd>(processor);
    case ReduceOp::logical_or: return pairs_of<U, LogicalOr>(processor);
    case ReduceOp::logical_xor: return pairs_of<U, LogicalXor>(processor);
    default: return {};
  }
}

}  // namespace

Combine combine_integers(ElementType type, ReduceOp op, const Processor& processor) noexcept {
  switch (type) {
    case ElementType::i8: return integer_loops<std::int8_t>(op, processor);
    case ElementType::i16: return integer_loops<std::int16_t>(op, processor);
    case ElementType::i32: return integer_loops<std::int32_t>(op, processor);
    case ElementType::i64: return integer_loops<std::int64_t>(op, processor);
    case ElementType::u8: return integer_loops<std::uint8_t>(op, processor);
    case ElementType::u16: return integer_loops<std::uint16_t>(op, processor);
    case ElementType::u32: return integer_loops<std::uint32_t>(op, processor);
    case ElementType::u64: return integer_loops<std::uint64_t>(op, processor);
    default: return {};
  }
}

}  // namespace aqueduct::kernels
