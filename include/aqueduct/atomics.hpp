#pragma once

#include <aqueduct/atomic_apply.hpp>
#include <aqueduct/atomic_ways.hpp>
#include <aqueduct/endpoint.hpp>

#include <type_traits>

namespace aqueduct {

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
