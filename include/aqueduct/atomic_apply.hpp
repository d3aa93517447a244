#pragma once

// The types of atomics, and an atomic on memory that is mapped here. Programs include <aqueduct/atomics.hpp>.

#include <aqueduct/atomic_types.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace aqueduct {

template <class T>
concept AtomicInteger = std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;
template <class T>
concept AtomicFloat = std::same_as<T, float> || std::same_as<T, double>;
/// 32- and 64-bit integers support every operation; float and double all but the bitwise ones.
template <class T>
concept Atomic = AtomicInteger<T> || AtomicFloat<T>;

namespace detail {

template <Atomic T>
constexpr AtomicType atomic_type() noexcept {
  if constexpr (std::same_as<T, std::int32_t>) return AtomicType::i32;
  if constexpr (std::same_as<T, std::uint32_t>) return AtomicType::u32;
  if constexpr (std::same_as<T, std::int64_t>) return AtomicType::i64;
  if constexpr (std::same_as<T, std::uint64_t>) return AtomicType::u64;
  if constexpr (std::same_as<T, float>) return AtomicType::f32;
  if constexpr (std::same_as<T, double>) return AtomicType::f64;
}

// Everything on the path of an atomic on mapped memory is force-inlined. The operation is nearly always a constant,
// so the atomic becomes one instruction, however many calls a program has (tests/structure/check_hot_path.py).

/// Fetching and, or, xor, by a compare-exchange loop instead of fetch_and, fetch_or and fetch_xor. g++ 12 may put the
/// operand and the old value into one register, as in `v = cell.fetch_xor(v)`. Its own loop then overwrites the
/// operand before using it, and memory keeps its value or becomes 0 (at -O1 to -O3;
/// tests/unit/include/atomics_test.cpp shows it).
template <AtomicInteger T>
[[gnu::always_inline]] inline T fetch_bits(AtomicOp op, std::atomic_ref<T> cell, T operand) noexcept {
  T seen = cell.load(std::memory_order_relaxed);
  while (true) {
    const T next = op == AtomicOp::bit_and  ? seen & operand
                   : op == AtomicOp::bit_or ? seen | operand
                                            : seen ^ operand;
    if (cell.compare_exchange_weak(seen, next)) return seen;
  }
}

/// Non-fetching and, or, xor: one instruction each.
template <AtomicInteger T>
[[gnu::always_inline]] inline void apply_bits(AtomicOp op, std::atomic_ref<T> cell, T operand) noexcept {
  if (op == AtomicOp::bit_and) {
    cell.fetch_and(operand);
  } else if (op == AtomicOp::bit_or) {
    cell.fetch_or(operand);
  } else {
    cell.fetch_xor(operand);
  }
}

/// a * b, modulo 2^n for integers.
template <Atomic T>
[[gnu::always_inline]] inline T product(T a, T b) noexcept {
  if constexpr (AtomicInteger<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
  } else {
    return a * b;
  }
}

/// Does the operation on memory that is mapped here. Returns the old value if `fetched`; otherwise the result is
/// meaningless.
template <Atomic T>
[[gnu::always_inline]] inline T apply(AtomicOp op, T& target, T operand, T expected,
                                      bool fetched = true) noexcept {
  std::atomic_ref<T> cell(target);
  static_assert(std::atomic_ref<T>::is_always_lock_free);
  switch (op) {
    case AtomicOp::load: return cell.load();
    case AtomicOp::store:
      if (!fetched) {
        cell.store(operand);
        return T{};
      }
      [[fallthrough]];
    case AtomicOp::swap: return cell.exchange(operand);
    case AtomicOp::add: return cell.fetch_add(operand);
    default: break;
  }
  if constexpr (AtomicInteger<T>) {
    switch (op) {
      case AtomicOp::bit_and:
      case AtomicOp::bit_or:
      case AtomicOp::bit_xor:
        if (fetched) return fetch_bits(op, cell, operand);
        apply_bits(op, cell, operand);
        return T{};
      default: break;
    }
  }
  // A compare-exchange compares bits, of floats too.
  if (op == AtomicOp::compare_swap) {
    cell.compare_exchange_strong(expected, operand);
    return expected;
  }
  T seen = cell.load();
  if (op == AtomicOp::multiply) {
    while (!cell.compare_exchange_weak(seen, product(seen, operand))) {
    }
    return seen;
  }
  if (op != AtomicOp::min && op != AtomicOp::max) return operand;  // T does not have it
  while (op == AtomicOp::min ? operand < seen : seen < operand) {
    if (cell.compare_exchange_weak(seen, operand)) break;
  }
  return seen;
}

template <Atomic T>
std::uint64_t bits(T value) noexcept {
  std::uint64_t out = 0;
  std::memcpy(&out, &value, sizeof(T));
  return out;
}

template <Atomic T>
constexpr bool has(AtomicOp op) noexcept {
  if (AtomicFloat<T> && (op == AtomicOp::bit_and || op == AtomicOp::bit_or || op == AtomicOp::bit_xor))
    return false;
  return op <= AtomicOp::multiply;
}
/// Whether the forms with one operand support the operation. compare_swap has its own forms, with an expected value.
template <Atomic T>
constexpr bool has_by_one(AtomicOp op) noexcept {
  return has<T>(op) && op != AtomicOp::compare_swap;
}

}  // namespace detail

}  // namespace aqueduct
