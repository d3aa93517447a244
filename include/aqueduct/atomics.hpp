#pragma once

#include <aqueduct/atomic_types.hpp>
#include <aqueduct/endpoint.hpp>
#include <aqueduct/group.hpp>

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

struct AtomicOptions {
  /// Returns `refused` instead of waiting for room; nothing has happened then.
  bool immediate = false;
  /// If a processor instruction from here does it on a neighbour's memory, wakes the neighbour after it: a wait for the
  /// word (wait_on, Endpoint::wait_until) that sleeps there ends its sleep at once. Costs a locked instruction and a
  /// load if the target is awake. Over a network it changes nothing.
  bool notify = false;
  /// For the `_nbi` forms: the group that the atomic joins, in place of the open region or the implicit group.
  Group* group = nullptr;
};

enum class AtomicFavour : std::uint8_t;

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

/// Who executes a domain's atomics: `operations` has a bit for each AtomicOp.
AtomicBy atomic_by(Endpoint&, std::uint32_t operations, AtomicType type, AtomicFavour favour) noexcept;
/// Wakes a rank whose mapped memory was changed with the option `notify`.
[[gnu::cold]] void notify_mapped(Endpoint&, Rank target) noexcept;
Event atomic_nb_slowly(Endpoint&, GlobalPtr<std::byte> at, const AtomicCall&, const AtomicOptions&) noexcept;
Status atomic_nbi_slowly(Endpoint&, GlobalPtr<std::byte> at, const AtomicCall&,
                         const AtomicOptions&) noexcept;

// Who does an atomic: the job's way, or that of a domain. `place` is the address of a range on which an instruction from
// here can do it; null if the network does it, or if the memory is not mapped for values (Endpoint::mapped_for_value).

struct WayOfJob {
  Endpoint& ep;
  static constexpr AtomicBy by = AtomicBy::job;
  std::byte* place(GlobalPtr<std::byte> at, std::size_t bytes) const noexcept {
    return ep.mapped_for_value(at.rank(), at.segment(), at.offset(), bytes);
  }
};
/// A domain has a copy of the table. So its atomics on mapped memory read the window and nothing of the Endpoint: a
/// locked instruction waits for all loads before it, and each load that needs the one before it counts.
struct WayOfDomain {
  AtomicBy by = AtomicBy::job;
  WindowTable windows;  ///< empty if the network does the domain's atomics

  static WayOfDomain of(Endpoint& ep, AtomicBy by) noexcept {
    return {by, by == AtomicBy::network ? WindowTable{} : ep.value_table()};
  }
  std::byte* place(GlobalPtr<std::byte> at, std::size_t bytes) const noexcept {
    return windows.find(at.rank(), at.segment(), at.offset(), bytes);
  }
};

/// The target's address if a processor instruction from here can do the operation. Null if the slow path must do it: it
/// sends the operation, or it first makes progress because other ranks may need this rank's processor.
template <Atomic T, class Way>
[[gnu::always_inline]] inline T* atomic_place(const Way& way, GlobalPtr<T> at) noexcept {
  std::byte* const place = way.place({at.rank(), at.offset(), at.segment()}, sizeof(T));
  const bool aligned = reinterpret_cast<std::uintptr_t>(place) % sizeof(T) == 0;
  return aligned ? reinterpret_cast<T*>(place) : nullptr;
}

template <Atomic T>
[[gnu::cold, gnu::noinline]] Event atomic_nb_over_wire(Endpoint& ep, AtomicOp op, GlobalPtr<T> at, T operand,
                                                       T expected, T* result, AtomicOptions options,
                                                       AtomicBy by) noexcept {
  return atomic_nb_slowly(ep, {at.rank(), at.offset(), at.segment()},
                          {op, atomic_type<T>(), bits(operand), bits(expected), result, by}, options);
}
template <Atomic T>
[[gnu::cold, gnu::noinline]] Status atomic_nbi_over_wire(Endpoint& ep, AtomicOp op, GlobalPtr<T> at,
                                                         T operand, T expected, T* result,
                                                         AtomicOptions options, AtomicBy by) noexcept {
  return atomic_nbi_slowly(ep, {at.rank(), at.offset(), at.segment()},
                           {op, atomic_type<T>(), bits(operand), bits(expected), result, by}, options);
}
template <Atomic T>
[[gnu::cold, gnu::noinline]] Result<T> atomic_fetch_over_wire(Endpoint& ep, AtomicOp op, GlobalPtr<T> at,
                                                              T operand, T expected, AtomicBy by) noexcept {
  T old{};
  if (Status status = ep.wait(atomic_nb_over_wire<T>(ep, op, at, operand, expected, &old, {}, by)); !status) {
    return status;
  }
  return old;
}
template <Atomic T>
[[gnu::cold, gnu::noinline]] Status atomic_over_wire(Endpoint& ep, AtomicOp op, GlobalPtr<T> at, T operand,
                                                     AtomicBy by) noexcept {
  return ep.wait(atomic_nb_over_wire<T>(ep, op, at, operand, T{}, nullptr, {}, by));
}

template <Atomic T, class Way>
[[gnu::always_inline]] inline Event atomic_nb(Endpoint& ep, AtomicOp op, GlobalPtr<T> at, T operand,
                                              T expected, T* result, const AtomicOptions& options,
                                              const Way& way) noexcept {
  if (T* const here = atomic_place(way, at)) [[likely]] {
    const T old = apply<T>(op, *here, operand, expected, result != nullptr);
    if (result != nullptr) *result = old;
    if (options.notify) [[unlikely]]
      notify_mapped(ep, at.rank());
    return Event{};
  }
  return atomic_nb_over_wire<T>(ep, op, at, operand, expected, result, options, way.by);
}

template <Atomic T, class Way>
[[gnu::always_inline]] inline Status atomic_nbi(Endpoint& ep, AtomicOp op, GlobalPtr<T> at, T operand,
                                                T expected, T* result, const AtomicOptions& options,
                                                const Way& way) noexcept {
  if (T* const here = atomic_place(way, at)) [[likely]] {
    const T old = apply<T>(op, *here, operand, expected, result != nullptr);
    if (result != nullptr) *result = old;
    if (options.notify) [[unlikely]]
      notify_mapped(ep, at.rank());
    return {};
  }
  return atomic_nbi_over_wire<T>(ep, op, at, operand, expected, result, options, way.by);
}

template <Atomic T, class Way>
[[gnu::always_inline]] inline Result<T> atomic_fetch(Endpoint& ep, AtomicOp op, GlobalPtr<T> at, T operand,
                                                     T expected, const Way& way) noexcept {
  if (T* const here = atomic_place(way, at)) [[likely]]
    return apply<T>(op, *here, operand, expected);
  return atomic_fetch_over_wire<T>(ep, op, at, operand, expected, way.by);
}

template <Atomic T, class Way>
[[gnu::always_inline]] inline Status atomic(Endpoint& ep, AtomicOp op, GlobalPtr<T> at, T operand,
                                            const Way& way) noexcept {
  if (T* const here = atomic_place(way, at)) [[likely]] {
    apply<T>(op, *here, operand, T{}, false);
    return {};
  }
  return atomic_over_wire<T>(ep, op, at, operand, way.by);
}

// The same without a domain.
template <Atomic T>
[[gnu::always_inline]] inline Event atomic_nb(Endpoint& ep, AtomicOp op, GlobalPtr<T> at, T operand,
                                              T expected, T* result, const AtomicOptions& options) noexcept {
  return atomic_nb<T>(ep, op, at, operand, expected, result, options, WayOfJob{ep});
}
template <Atomic T>
[[gnu::always_inline]] inline Status atomic_nbi(Endpoint& ep, AtomicOp op, GlobalPtr<T> at, T operand,
                                                T expected, T* result,
                                                const AtomicOptions& options) noexcept {
  return atomic_nbi<T>(ep, op, at, operand, expected, result, options, WayOfJob{ep});
}
template <Atomic T>
[[gnu::always_inline]] inline Result<T> atomic_fetch(Endpoint& ep, AtomicOp op, GlobalPtr<T> at, T operand,
                                                     T expected = {}) noexcept {
  return atomic_fetch<T>(ep, op, at, operand, expected, WayOfJob{ep});
}
template <Atomic T>
[[gnu::always_inline]] inline Status atomic(Endpoint& ep, AtomicOp op, GlobalPtr<T> at, T operand) noexcept {
  return atomic<T>(ep, op, at, operand, WayOfJob{ep});
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

// Every atomic comes in the same forms. Atomics on one object are atomic with respect to each other, whichever ranks
// issue them. They are not atomic with respect to puts and plain stores; loads and gets see whole values
// (docs/memory-model.md, M-17 to M-19).
//
// Requires:    the target's address on its owner is a multiple of sizeof(T). In attached memory the address counts, not
//              the offset.
// Completion:  remote; `result`, if there is one, holds the old value.
// Lifetime:    `result` until completion.
// Errors:      misaligned, out_of_range, refused (immediate), peer_lost, no_memory; in_handler if an instruction from here
//              cannot do it. An atomic that meets a segment that has ended may complete without an error, as a put does.
// Cost:        one instruction when the target is mapped here and processors do the job's atomics. Otherwise one
//              operation of the network, if it supports every operation on every type, or a request and its reply;
//              over udp, without a result, a part of a packet.
//              For networks that support only a few operations see AtomicDomain. If other ranks need my processor for
//              their atomics on my memory (ranks of other hosts, attached memory), an atomic on my own memory also
//              makes progress, at most once a microsecond.

// clang-format off: version 14 reads `noexcept` after such a requires-clause as a part of the clause.

/// Does `Op` with `operand`: the general form, for an operation chosen at compile time. compare_swap has its own forms.
/// `result`, if not null, receives the old value.
template <AtomicOp Op, Atomic T>
  requires(detail::has_by_one<T>(Op))
[[gnu::always_inline]] inline Event atomic_nb(Endpoint& ep, GlobalPtr<T> at, std::type_identity_t<T> operand,
                                              std::type_identity_t<T>* result = nullptr,
                                              const AtomicOptions& options = {}) noexcept {
  return detail::atomic_nb<T>(ep, Op, at, operand, T{}, result, options);
}
/// As atomic_nb, with implicit completion.
template <AtomicOp Op, Atomic T>
  requires(detail::has_by_one<T>(Op))
[[gnu::always_inline]] inline Status atomic_nbi(Endpoint& ep, GlobalPtr<T> at,
                                                std::type_identity_t<T> operand,
                                                std::type_identity_t<T>* result = nullptr,
                                                const AtomicOptions& options = {}) noexcept {
  return detail::atomic_nbi<T>(ep, Op, at, operand, T{}, result, options);
}
/// Does `Op`, waits, and returns the old value.
template <AtomicOp Op, Atomic T>
  requires(detail::has_by_one<T>(Op))
[[gnu::always_inline]] inline Result<T> atomic_fetch(Endpoint& ep, GlobalPtr<T> at,
                                                     std::type_identity_t<T> operand) noexcept {
  return detail::atomic_fetch<T>(ep, Op, at, operand);
}
/// Does `Op` and waits.
template <AtomicOp Op, Atomic T>
  requires(detail::has_by_one<T>(Op))
[[gnu::always_inline]] inline Status atomic(Endpoint& ep, GlobalPtr<T> at,
                                            std::type_identity_t<T> operand) noexcept {
  return detail::atomic<T>(ep, Op, at, operand);
}

// clang-format on

// Blocking forms by name. fetch_… and swap return the old value.
template <Atomic T>
[[gnu::always_inline]] inline Result<T> fetch_add(Endpoint& ep, GlobalPtr<T> at,
                                                  std::type_identity_t<T> x) noexcept {
  return detail::atomic_fetch<T>(ep, AtomicOp::add, at, x);
}
template <AtomicInteger T>
[[gnu::always_inline]] inline Result<T> fetch_and(Endpoint& ep, GlobalPtr<T> at,
                                                  std::type_identity_t<T> x) noexcept {
  return detail::atomic_fetch<T>(ep, AtomicOp::bit_and, at, x);
}
template <AtomicInteger T>
[[gnu::always_inline]] inline Result<T> fetch_or(Endpoint& ep, GlobalPtr<T> at,
                                                 std::type_identity_t<T> x) noexcept {
  return detail::atomic_fetch<T>(ep, AtomicOp::bit_or, at, x);
}
template <AtomicInteger T>
[[gnu::always_inline]] inline Result<T> fetch_xor(Endpoint& ep, GlobalPtr<T> at,
                                                  std::type_identity_t<T> x) noexcept {
  return detail::atomic_fetch<T>(ep, AtomicOp::bit_xor, at, x);
}
template <Atomic T>
[[gnu::always_inline]] inline Result<T> fetch_multiply(Endpoint& ep, GlobalPtr<T> at,
                                                       std::type_identity_t<T> x) noexcept {
  return detail::atomic_fetch<T>(ep, AtomicOp::multiply, at, x);
}
template <Atomic T>
[[gnu::always_inline]] inline Result<T> fetch_min(Endpoint& ep, GlobalPtr<T> at,
                                                  std::type_identity_t<T> x) noexcept {
  return detail::atomic_fetch<T>(ep, AtomicOp::min, at, x);
}
template <Atomic T>
[[gnu::always_inline]] inline Result<T> fetch_max(Endpoint& ep, GlobalPtr<T> at,
                                                  std::type_identity_t<T> x) noexcept {
  return detail::atomic_fetch<T>(ep, AtomicOp::max, at, x);
}
template <Atomic T>
[[gnu::always_inline]] inline Result<T> swap(Endpoint& ep, GlobalPtr<T> at,
                                             std::type_identity_t<T> x) noexcept {
  return detail::atomic_fetch<T>(ep, AtomicOp::swap, at, x);
}
template <Atomic T>
[[gnu::always_inline]] inline Result<T> load(Endpoint& ep, GlobalPtr<T> at) noexcept {
  return detail::atomic_fetch<T>(ep, AtomicOp::load, at, T{});
}
template <Atomic T>
[[gnu::always_inline]] inline Status store(Endpoint& ep, GlobalPtr<T> at,
                                           std::type_identity_t<T> x) noexcept {
  return detail::atomic<T>(ep, AtomicOp::store, at, x);
}
/// Stores `desired` if the target equals `expected`. Returns the old value, which equals `expected` on success. Floats
/// are compared by their bits: 0.0 is not -0.0, and a NaN equals itself.
template <Atomic T>
[[gnu::always_inline]] inline Result<T> compare_swap(Endpoint& ep, GlobalPtr<T> at,
                                                     std::type_identity_t<T> expected,
                                                     std::type_identity_t<T> desired) noexcept {
  return detail::atomic_fetch<T>(ep, AtomicOp::compare_swap, at, desired, expected);
}
/// Non-blocking compare_swap. `result`, if not null, receives the old value: without it nothing tells whether the target
/// was equal.
template <Atomic T>
[[gnu::always_inline]] inline Event compare_swap_nb(Endpoint& ep, GlobalPtr<T> at,
                                                    std::type_identity_t<T> expected,
                                                    std::type_identity_t<T> desired,
                                                    std::type_identity_t<T>* result = nullptr,
                                                    const AtomicOptions& options = {}) noexcept {
  return detail::atomic_nb<T>(ep, AtomicOp::compare_swap, at, desired, expected, result, options);
}
/// As compare_swap_nb, with implicit completion.
template <Atomic T>
[[gnu::always_inline]] inline Status compare_swap_nbi(Endpoint& ep, GlobalPtr<T> at,
                                                      std::type_identity_t<T> expected,
                                                      std::type_identity_t<T> desired,
                                                      std::type_identity_t<T>* result = nullptr,
                                                      const AtomicOptions& options = {}) noexcept {
  return detail::atomic_nbi<T>(ep, AtomicOp::compare_swap, at, desired, expected, result, options);
}

}  // namespace aqueduct
