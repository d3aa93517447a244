#pragma once

#include <aqueduct/atomic_types.hpp>

#include "core/conduit.hpp"

#include <array>
#include <cstdint>

namespace aqueduct::core {

/// A set of atomics: one bit for each operation on each type. For what a network can do, or what a program needs.
class AtomicSet {
 public:
  AtomicSet() = default;
  explicit AtomicSet(std::uint64_t bits) noexcept : bits_(bits) {}

  /// All atomics that exist; on floats, only some operations do.
  static AtomicSet whole() noexcept {
    AtomicSet set;
    for (AtomicType type : kTypes) {
      const bool is_float = type == AtomicType::f32 || type == AtomicType::f64;
      for (AtomicOp op : kOps) {
        const bool also_of_float =
            op == AtomicOp::load || op == AtomicOp::store || op == AtomicOp::add || op == AtomicOp::swap;
        if (!is_float || also_of_float) set.add(op, type);
      }
    }
    return set;
  }
  /// The atomics that a network can do. `network` may be null: none.
  static AtomicSet of(const NativeAtomics* network) noexcept {
    AtomicSet set;
    if (network == nullptr) return set;
    for (AtomicType type : kTypes) {
      for (AtomicOp op : kOps) {
        if (network->can(op, type)) set.add(op, type);
      }
    }
    return set;
  }

  void add(AtomicOp op, AtomicType type) noexcept { bits_ |= bit(op, type); }
  bool holds(AtomicSet all) const noexcept { return (all.bits_ & ~bits_) == 0; }
  bool empty() const noexcept { return bits_ == 0; }
  AtomicSet& operator&=(AtomicSet other) noexcept {
    bits_ &= other.bits_;
    return *this;
  }
  std::uint64_t bits() const noexcept { return bits_; }

 private:
  static constexpr std::array kTypes{AtomicType::i32, AtomicType::u32, AtomicType::i64,
                                     AtomicType::u64, AtomicType::f32, AtomicType::f64};
  static constexpr std::array kOps{AtomicOp::load,   AtomicOp::store,       AtomicOp::add, AtomicOp::bit_and,
                                   AtomicOp::bit_or, AtomicOp::bit_xor,     AtomicOp::min, AtomicOp::max,
                                   AtomicOp::swap,   AtomicOp::compare_swap};
  static_assert(kTypes.size() * kOps.size() <= 64);
  static constexpr std::uint64_t bit(AtomicOp op, AtomicType type) noexcept {
    return std::uint64_t{1} << (static_cast<unsigned>(type) * kOps.size() + static_cast<unsigned>(op));
  }

  std::uint64_t bits_ = 0;
};

}  // namespace aqueduct::core
