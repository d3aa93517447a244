#pragma once

#include <aqueduct/half.hpp>
#include <aqueduct/rank.hpp>

#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace aqueduct {

/// The collective operations. coll.hpp has the calls from `broadcast` to `exscan`; coll_v.hpp those whose blocks may have
/// different lengths, and `permute`; `barrier` is Team::barrier.
enum class Collective : std::uint8_t {
  barrier,
  broadcast,
  scatter,
  gather,
  all_gather,
  all_to_all,
  reduce,
  all_reduce,
  reduce_scatter,
  scan,
  exscan,
  permute,
  scatter_v,
  gather_v,
  all_gather_v,
  all_to_all_v,
};

/// When bytes may move, relative to the members' calls.
///
/// As CollOptions::in, buffers may be read and written: `none`, as soon as the first member has called; `mine`, those
/// of a member only after that member has called; `all`, only after all members have called.
/// As CollOptions::out, a member's call may end: `none`, at any time, so peers may still access its buffers; `mine`,
/// when its own buffers are final; `all`, when those of all members are.
///
/// Cost: `all` up to ceil(log2 P) rounds of signals, for P members; `none` nothing. `mine` costs something only where
///       members access each other's buffers directly.
enum class Sync : std::uint8_t { none, mine, all };

/// How partial results of a reduction may be combined: `any`, in any order; `same_everywhere`, such that all members
/// get the same bits; `exact`, as ((x0 ∘ x1) ∘ x2) … in team order. If the operator is not commutative, contributions
/// stay in team order with all three, and only the brackets differ.
///
/// Cost: `exact` leaves algorithms in which one member after the other combines, or each member all contributions.
enum class ReduceOrder : std::uint8_t { any, same_everywhere, exact };

/// A value and where it was found, for min_index and max_index. T is std::int32_t, std::int64_t, float or double; a
/// WithIndex of another type counts as bytes.
template <class T>
struct WithIndex {
  T value{};
  std::int64_t index = 0;
  friend bool operator==(const WithIndex&, const WithIndex&) noexcept = default;
};

/// What the elements of a collective operation are. Typed calls find it by the element's type.
enum class ElementType : std::uint8_t {
  bytes,  ///< anything that is trivially copyable; only a user's operator combines it
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  half,
  bfloat16,
  f32,
  f64,
  complex_f32,
  complex_f64,
  i32_index,  ///< WithIndex<std::int32_t>, and so on
  i64_index,
  f32_index,
  f64_index,
};

/// How two elements are combined.
///
/// sum, product   integers wrap around; not for elements with an index. The product of complex numbers is
///                (ac - bd) + (ad + bc)i as it stands: with infinities it may be NaN where std::complex gives infinity.
/// min, max       not for complex numbers. If one operand is a NaN, the result is a NaN; -0 is less than +0.
/// bit_…          integers only.
/// logical_…      integers only: 0 is false; the result is 0 or 1.
/// min_index, …   elements with an index: the least (greatest) value, and with equal values the least index; -0 and +0
///                are equal here. A NaN wins over every number, and of several NaNs the one with the least index.
enum class ReduceOp : std::uint8_t {
  sum,
  product,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or,
  logical_xor,
  min_index,
  max_index,
  user,
};

/// An operator for a reduction: one of the library's, or one that the program has added under a number of its own
/// (add_operator in coll.hpp). Numbers rather than pointers, because a function's address may differ between processes.
struct Reducer {
  ReduceOp op = ReduceOp::sum;
  std::uint8_t unused[3]{};  ///< so that a Reducer can be compared as one word
  std::uint32_t number = 0;  ///< of a user's operator

  constexpr Reducer() noexcept = default;
  /// An operator of the library.
  constexpr Reducer(ReduceOp which) noexcept : op(which) {}
  /// The operator that the program has added under this number.
  static constexpr Reducer user(std::uint32_t number) noexcept {
    Reducer reducer(ReduceOp::user);
    reducer.number = number;
    return reducer;
  }
  friend constexpr bool operator==(const Reducer&, const Reducer&) noexcept = default;
};

/// A user's operator: for each i below `count`, to[i] = left[i] ∘ right[i]. `to` may be `left` or `right`, and overlaps
/// neither in part. If the operator is not commutative, `left` holds partial results of members that come earlier in
/// the team. Associative, unless the order is `exact`.
///
/// Memory:  the pointers are aligned for the element, but for 16 bytes at the most: partial results lie in the library's memory.
///          A type with a greater alignment (alignas(32), a vector of AVX) is copied with std::memcpy.
/// Threads: runs inside progress, on any thread that makes it, one at a time for each endpoint; with
///          AQUEDUCT_COLL_PROGRESS also on a thread of the library's. It must not use the library, and not throw, and
///          takes no lock under which a thread calls the endpoint.
using CombineFunction = void (*)(void* to, const void* left, const void* right, std::size_t count,
                                 void* context);
struct UserOperator {
  CombineFunction combine = nullptr;
  void* context = nullptr;  ///< passed to `combine`
  std::size_t element = 0;  ///< bytes of one element
  bool commutative = false;
};

/// How a collective call goes. The same on all members, except for `limit`.
struct CollOptions {
  Sync in = Sync::all;                   ///< when buffers may first be touched
  Sync out = Sync::all;                  ///< when a call may end
  ReduceOrder order = ReduceOrder::any;  ///< of reductions
  /// With AQUEDUCT_COLL_LEARN=on a blocking call is no trial of another algorithm: it uses the best one known, and its time is
  /// not counted.
  bool no_trials = false;
  /// A blocking call returns `timed_out` after this time. The operation goes on, so the buffers stay in use until the
  /// team has ended another operation with Sync::all (a barrier is none), or Team::end has returned. If the Team is destroyed
  /// without `end`, the output is not written any more, but the input may still be read, as long as a member does not answer to
  /// what is sent to it. With AQUEDUCT_COLL_LEARN=on a call may take longer, until members that are far behind have made some
  /// earlier calls (docs/tuning.md).
  std::chrono::nanoseconds limit = std::chrono::nanoseconds::max();
};

namespace detail {

template <class T>
consteval ElementType element_type() noexcept {
  if constexpr (std::is_same_v<T, Half>)
    return ElementType::half;
  else if constexpr (std::is_same_v<T, Bfloat16>)
    return ElementType::bfloat16;
  else if constexpr (std::is_same_v<T, float>)
    return ElementType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return ElementType::f64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return ElementType::complex_f32;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return ElementType::complex_f64;
  else if constexpr (std::is_same_v<T, WithIndex<std::int32_t>>)
    return ElementType::i32_index;
  else if constexpr (std::is_same_v<T, WithIndex<std::int64_t>>)
    return ElementType::i64_index;
  else if constexpr (std::is_same_v<T, WithIndex<float>>)
    return ElementType::f32_index;
  else if constexpr (std::is_same_v<T, WithIndex<double>>)
    return ElementType::f64_index;
  // With the compiler's extensions (-std=gnu++20) there are integers of 128 bits, which no operator combines.
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8) {
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1)
      return is_signed ? ElementType::i8 : ElementType::u8;
    else if constexpr (sizeof(T) == 2)
      return is_signed ? ElementType::i16 : ElementType::u16;
    else if constexpr (sizeof(T) == 4)
      return is_signed ? ElementType::i32 : ElementType::u32;
    else
      return is_signed ? ElementType::i64 : ElementType::u64;
  } else {
    return ElementType::bytes;
  }
}

}  // namespace detail

}  // namespace aqueduct
