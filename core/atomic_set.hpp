#pragma once

#include <aqueduct/atomic_types.hpp>

#include <array>
#include <cstdint>

namespace aqueduct::core {

/// A set of atomics, as pairs of an operation and a type: what a network can do, or what a program needs.
class AtomicSet {
 public:
  constexpr AtomicSet() = default;
  constexpr explicit AtomicSet(std::uint64_t bits) noexcept : bits_(bits) {}

  static constexpr std::array kTypes{AtomicType::i32, AtomicType::u32, AtomicType::i64,
                                     AtomicType::u64, AtomicType::f32, AtomicType::f64};
  static constexpr std::array kOps{AtomicOp::load,         AtomicOp::store,   AtomicOp::add,
                                   AtomicOp::bit_and,      AtomicOp::bit_or,  AtomicOp::bit_xor,
                                   AtomicOp::min,          AtomicOp::max,     AtomicOp::swap,
                                   AtomicOp::compare_swap, AtomicOp::multiply};

  /// Whether the library has the operation for the type: floats have all but the bitwise ones. False also for values
  /// outside the enumerations.
  static constexpr bool exists(AtomicOp op, AtomicType type) noexcept { return bit(op, type) != 0; }
  /// All atomics that exist.
  static constexpr AtomicSet whole() noexcept {
    AtomicSet set;
    for (AtomicType type : kTypes) {
      for (AtomicOp op : kOps) set.add(op, type);
    }
    return set;
  }

  /// Adds an atomic, if it exists.
  constexpr void add(AtomicOp op, AtomicType type) noexcept { bits_ |= bit(op, type); }
  constexpr bool has(AtomicOp op, AtomicType type) const noexcept { return (bits_ & bit(op, type)) != 0; }
  /// Whether all of another set are in this one.
  constexpr bool holds(AtomicSet all) const noexcept { return (all.bits_ & ~bits_) == 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr AtomicSet& operator&=(AtomicSet other) noexcept {
    bits_ &= other.bits_;
    return *this;
  }
  /// For the exchange between ranks.
  constexpr std::uint64_t bits() const noexcept { return bits_; }

 private:
  static constexpr unsigned kIntegers = 4;
  static constexpr unsigned kBitwise = 3;  // bit_and, bit_or and bit_xor follow one another
  static constexpr unsigned kFloatOps = static_cast<unsigned>(kOps.size()) - kBitwise;
  static_assert(kIntegers * kOps.size() + 2 * kFloatOps <= 64);

  static constexpr std::uint64_t bit(AtomicOp op, AtomicType type) noexcept {
    const auto o = static_cast<unsigned>(op);
    const auto t = static_cast<unsigned>(type);
    constexpr auto kFirst = static_cast<unsigned>(AtomicOp::bit_and);
    const unsigned all = static_cast<unsigned>(kOps.size());
    if (o >= all || t >= kTypes.size()) return 0;
    if (t < kIntegers) return std::uint64_t{1} << (t * all + o);
    if (o >= kFirst && o < kFirst + kBitwise) return 0;
    return std::uint64_t{1} << (kIntegers * all + (t - kIntegers) * kFloatOps +
                                (o < kFirst ? o : o - kBitwise));
  }

  std::uint64_t bits_ = 0;
};

}  // namespace aqueduct::core
