#pragma once

#include <cstdint>

namespace aqueduct {

/// The operations, with the new value of the target: `a` is the old value, `x` the operand.
///
/// Floats have all but the bitwise ones. Their min and max compare as `<` does, and a comparison with a NaN is false: if
/// `a` or `x` is a NaN, the target keeps its value. Of two zeroes neither is smaller.
enum class AtomicOp : std::uint8_t {
  load,          ///< a; fetches a
  store,         ///< x
  add,           ///< a + x, modulo 2^n for integers
  bit_and,       ///< a & x
  bit_or,        ///< a | x
  bit_xor,       ///< a ^ x
  min,           ///< the smaller of a and x
  max,           ///< the larger
  swap,          ///< x, and fetches a
  compare_swap,  ///< x if a equals the expected value, otherwise a; fetches a. Floats are compared by their bits
  multiply,      ///< a * x, modulo 2^n for integers
};

enum class AtomicType : std::uint8_t { i32, u32, i64, u64, f32, f64 };

namespace detail {

/// Who executes an atomic: `job` is the job-wide choice, which the free functions use; a domain names one of the
/// others.
enum class AtomicBy : std::uint8_t { job, processor, network };

/// An atomic as data, for the path over the wire.
struct AtomicCall {
  AtomicOp op;
  AtomicType type;
  std::uint64_t operand = 0;  // the bits of T, zero-extended
  std::uint64_t expected = 0;
  void* result = nullptr;  // a T, written before completion; null: do not fetch
  AtomicBy by = AtomicBy::job;
};

}  // namespace detail

}  // namespace aqueduct
