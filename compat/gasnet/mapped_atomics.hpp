#pragma once

#include <aqueduct/atomics.hpp>
#include <aqueduct/c/atomics.h>

#include <gasnet_ratomic.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// How Aqueduct does an atomic operation of GASNet's, and the functions that do each on a word that is mapped here.

namespace aqueduct::gasnet {

struct Step {
  int op = -1;      ///< enum aq_op; -1: it has none
  int operand = 1;  ///< 1: the first operand; -1: the negated one; 2: one; -2: minus one; 0: none
  bool fetches = false;
};
constexpr Step step_of(gex_OP_t op) noexcept {
  switch (op) {
    case GEX_OP_AND: return {AQ_AND};
    case GEX_OP_OR: return {AQ_OR};
    case GEX_OP_XOR: return {AQ_XOR};
    case GEX_OP_ADD: return {AQ_ADD};
    case GEX_OP_SUB: return {AQ_ADD, -1};
    case GEX_OP_MULT: return {AQ_MULTIPLY};
    case GEX_OP_MIN: return {AQ_MIN};
    case GEX_OP_MAX: return {AQ_MAX};
    case GEX_OP_INC: return {AQ_ADD, 2};
    case GEX_OP_DEC: return {AQ_ADD, -2};
    case GEX_OP_SET: return {AQ_STORE};
    case GEX_OP_CAS: return {AQ_COMPARE_SWAP};
    case GEX_OP_FAND: return {AQ_AND, 1, true};
    case GEX_OP_FOR: return {AQ_OR, 1, true};
    case GEX_OP_FXOR: return {AQ_XOR, 1, true};
    case GEX_OP_FADD: return {AQ_ADD, 1, true};
    case GEX_OP_FSUB: return {AQ_ADD, -1, true};
    case GEX_OP_FMULT: return {AQ_MULTIPLY, 1, true};
    case GEX_OP_FMIN: return {AQ_MIN, 1, true};
    case GEX_OP_FMAX: return {AQ_MAX, 1, true};
    case GEX_OP_FINC: return {AQ_ADD, 2, true};
    case GEX_OP_FDEC: return {AQ_ADD, -2, true};
    case GEX_OP_SWAP: return {AQ_SWAP, 1, true};
    case GEX_OP_FCAS: return {AQ_COMPARE_SWAP, 1, true};
    case GEX_OP_GET: return {AQ_LOAD, 0, true};
    default: return {};
  }
}
template <class T>
constexpr T operand_of(const Step& step, T first) noexcept {
  switch (step.operand) {
    case -1:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(first));
      else
        return -first;
    case 2: return T{1};
    case -2: return static_cast<T>(-1);
    default: return first;
  }
}

/// Does one operation; stores what was there before, if it fetches and is told where. Returns 0, so that a call of the client's can end with it.
template <class T>
using OnMapped = std::intptr_t (*)(T* at, T op1, T op2, T* result) noexcept;
template <class T, gex_OP_t kOp>
std::intptr_t do_on_mapped(T* at, T op1, [[maybe_unused]] T op2, [[maybe_unused]] T* result) noexcept {
  constexpr Step step = step_of(kOp);
  constexpr auto op = static_cast<AtomicOp>(step.op);
  // A release and an acquire are all that a client's flags ask for; Aqueduct's own are sequentially consistent.
  if constexpr (op == AtomicOp::store) {
    __atomic_store(at, &op1, __ATOMIC_RELEASE);
  } else if constexpr (op == AtomicOp::load) {
    T value;
    __atomic_load(at, &value, __ATOMIC_ACQUIRE);
    if (result != nullptr) *result = value;
  } else {
    // A compare-and-swap has the expected value first.
    constexpr bool compares = op == AtomicOp::compare_swap;
    const T before =
        detail::apply<T>(op, *at, compares ? op2 : operand_of(step, op1), compares ? op1 : T{}, step.fetches);
    if constexpr (step.fetches) {
      if (result != nullptr) *result = before;
    }
  }
  return 0;
}
template <class T, gex_OP_t kOp>
constexpr OnMapped<T> function_of() noexcept {
  constexpr Step step = step_of(kOp);
  constexpr bool bitwise = step.op == AQ_AND || step.op == AQ_OR || step.op == AQ_XOR;
  if constexpr (step.op < 0 || (bitwise && !std::is_integral_v<T>)) {
    return nullptr;
  } else {
    return &do_on_mapped<T, kOp>;
  }
}
/// By the number of an operation's bit; null: T does not have it.
template <class T>
using MappedTable = std::array<OnMapped<T>, 32>;
template <class T, unsigned... kBits>
constexpr MappedTable<T> mapped_table(std::integer_sequence<unsigned, kBits...>) noexcept {
  return {function_of<T, gex_OP_t{1} << kBits>()...};
}
template <class T>
inline constexpr MappedTable<T> kOnMapped = mapped_table<T>(std::make_integer_sequence<unsigned, 32>());

/// Fills in those of a domain: of its operations only.
template <class T>
void fill_table(aqg_domain& domain) noexcept {
  for (unsigned bit = 0; bit < 32; ++bit) {
    if ((domain.operations >> bit & 1) != 0)
      domain.on_mapped[bit] = reinterpret_cast<aqg_on_mapped>(kOnMapped<T>[bit]);
  }
}

}  // namespace aqueduct::gasnet
