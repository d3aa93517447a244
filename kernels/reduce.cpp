#include "kernels/reduce.hpp"

#include "kernels/reduce_parts.hpp"

#include <algorithm>
#include <complex>
#include <cstring>

namespace aqueduct::kernels {

namespace {

Combine found_for(ElementType type, ReduceOp op, const Processor& processor) noexcept {
  if (widening_of(type) != nullptr) type = ElementType::f32;
  // A type belongs to one of them.
  if (const Combine found = combine_integers(type, op, processor); found.two != nullptr) return found;
  if (const Combine found = combine_floats(type, op, processor); found.two != nullptr) return found;
  if (const Combine found = combine_complex(type, op, processor); found.two != nullptr) return found;
  return combine_indexed(type, op);
}

/// Whether an array from the given one on is `to`.
bool reads_later(const void* to, std::span<const void* const> from, std::size_t first) noexcept {
  for (std::size_t i = first; i < from.size(); ++i) {
    if (from[i] == to) return true;
  }
  return false;
}

}  // namespace

CombineFunction combine_of(ElementType type, ReduceOp op) noexcept {
  return found_for(type, op, Processor::here()).two;
}

Fold Fold::of(ElementType type, ReduceOp op, const Processor& processor) noexcept {
  Fold fold;
  fold.combine_ = found_for(type, op, processor);
  fold.half_ = half_fold(type, op, processor);
  fold.element_ = element_bytes(type);
  return fold;
}

Fold Fold::of(const UserOperator& op) noexcept {
  Fold fold;
  fold.combine_.two = op.combine;
  fold.context_ = op.context;
  fold.element_ = static_cast<std::uint32_t>(op.element);
  return fold;
}

void Fold::operator()(void* to, std::span<const void* const> from, std::size_t count) const noexcept {
  if (count == 0 || from.empty()) return;
  auto* const out = static_cast<std::byte*>(to);
  if (from.size() == 1) {
    if (to != from[0]) std::memcpy(to, from[0], count * element_);
    return;
  }
  if (half_.first != nullptr) return fold_halves(out, from, count);
  if (from.size() == 2) return combine_.two(to, from[0], from[1], count, context_);
  if (from.size() == 4 && combine_.four != nullptr) return combine_.four(to, from.data(), count);
  fold_blocks(out, from, count);
}

void Fold::fold_blocks(std::byte* to, std::span<const void* const> from, std::size_t count) const noexcept {
  const bool fours = combine_.four != nullptr && from.size() >= 4;
  alignas(64) std::byte aside[kBlock];  // if `to` is an array that is read after the first loop has written
  const bool later = reads_later(to, from, fours ? 4 : 2);
  const std::size_t each = element_ < kBlock ? kBlock / element_ : 1;
  for (std::size_t first = 0; first < count; first += each) {
    const std::size_t some = std::min(each, count - first);
    const std::size_t offset = first * element_;
    const auto block = [&](std::size_t i) -> const void* {
      return static_cast<const std::byte*>(from[i]) + offset;
    };
    std::byte* const sum = later ? aside : to + offset;
    if (later)
      std::memcpy(aside, to + offset, some * element_);  // bytes between values and indices stay as they are
    std::size_t next = 2;
    if (fours) {
      const void* const four[] = {block(0), block(1), block(2), block(3)};
      combine_.four(sum, four, some);
      next = 4;
    } else {
      combine_.two(sum, block(0), block(1), some, context_);
    }
    while (next < from.size()) {
      if (combine_.four != nullptr && from.size() - next >= 3) {
        const void* const four[] = {sum, block(next), block(next + 1), block(next + 2)};
        combine_.four(sum, four, some);
        next += 3;
      } else {
        combine_.two(sum, sum, block(next++), some, context_);
      }
    }
    if (later) std::memcpy(to + offset, aside, some * element_);
  }
}

void Fold::fold_halves(std::byte* to, std::span<const void* const> from, std::size_t count) const noexcept {
  constexpr std::size_t kEach = kBlock / sizeof(float);
  alignas(64) float sum[kEach];
  for (std::size_t first = 0; first < count; first += kEach) {
    const std::size_t some = std::min(kEach, count - first);
    const std::size_t offset = first * element_;
    half_.first(sum, static_cast<const std::byte*>(from[0]) + offset, some);
    for (const void* const array : from.subspan(1))
      half_.next(sum, static_cast<const std::byte*>(array) + offset, some);
    half_.narrow(to + offset, sum, some);
  }
}

std::uint32_t element_bytes(ElementType type) noexcept {
  switch (type) {
    case ElementType::bytes: return 0;
    case ElementType::i8:
    case ElementType::u8: return 1;
    case ElementType::i16:
    case ElementType::u16: return 2;
    case ElementType::i32:
    case ElementType::u32: return 4;
    case ElementType::i64:
    case ElementType::u64: return 8;
    case ElementType::half: return sizeof(Half);
    case ElementType::bfloat16: return sizeof(Bfloat16);
    case ElementType::f32: return sizeof(float);
    case ElementType::f64: return sizeof(double);
    case ElementType::complex_f32: return sizeof(std::complex<float>);
    case ElementType::complex_f64: return sizeof(std::complex<double>);
    case ElementType::i32_index: return sizeof(WithIndex<std::int32_t>);
    case ElementType::i64_index: return sizeof(WithIndex<std::int64_t>);
    case ElementType::f32_index: return sizeof(WithIndex<float>);
    case ElementType::f64_index: return sizeof(WithIndex<double>);
  }
  return 0;
}

}  // namespace aqueduct::kernels
