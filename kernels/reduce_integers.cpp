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
CombineFunction integer_function(ReduceOp op) noexcept {
  using U = std::make_unsigned_t<T>;  // where the sign does not matter, two types share a function
  switch (op) {
    case ReduceOp::sum: return combine_each<U, IntegerSum>;
    case ReduceOp::product: return combine_each<U, IntegerProduct>;
    case ReduceOp::min: return combine_each<T, IntegerMin>;
    case ReduceOp::max: return combine_each<T, IntegerMax>;
    case ReduceOp::bit_and: return combine_each<U, BitAnd>;
    case ReduceOp::bit_or: return combine_each<U, BitOr>;
    case ReduceOp::bit_xor: return combine_each<U, BitXor>;
    case ReduceOp::logical_and: return combine_each<U, LogicalAnd>;
    case ReduceOp::logical_or: return combine_each<U, LogicalOr>;
    case ReduceOp::logical_xor: return combine_each<U, LogicalXor>;
    default: return nullptr;
  }
}

}  // namespace

CombineFunction combine_integers(ElementType type, ReduceOp op) noexcept {
  switch (type) {
    case ElementType::i8: return integer_function<std::int8_t>(op);
    case ElementType::i16: return integer_function<std::int16_t>(op);
    case ElementType::i32: return integer_function<std::int32_t>(op);
    case ElementType::i64: return integer_function<std::int64_t>(op);
    case ElementType::u8: return integer_function<std::uint8_t>(op);
    case ElementType::u16: return integer_function<std::uint16_t>(op);
    case ElementType::u32: return integer_function<std::uint32_t>(op);
    case ElementType::u64: return integer_function<std::uint64_t>(op);
    default: return nullptr;
  }
}

}  // namespace aqueduct::kernels
