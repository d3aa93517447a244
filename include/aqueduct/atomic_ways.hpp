#pragma once

// Which way an atomic goes: by an instruction from here, or over the network. Programs include <aqueduct/atomics.hpp>.

#include <aqueduct/atomic_apply.hpp>
#include <aqueduct/endpoint.hpp>
#include <aqueduct/group.hpp>

#include <cstddef>
#include <cstdint>

namespace aqueduct {

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

/// Who executes a domain's atomics: `operations` has a bit for each AtomicOp.
AtomicBy atomic_by(Endpoint&, std::uint32_t operations, AtomicType type, AtomicFavour favour) noexcept;
/// Wakes a rank whose mapped memory was changed with the option `notify`.
[[gnu::cold]] void notify_mapped(Endpoint&, Rank target) noexcept;
Event atomic_nb_slowly(Endpoint&, GlobalPtr<std::byte> at, const AtomicCall&, const AtomicOptions&) noexcept;
Status atomic_nbi_slowly(Endpoint&, GlobalPtr<std::byte> at, const AtomicCall&,
                         const AtomicOptions&) noexcept;

// What carries out an atomic: the job's way, or that of a domain. `place` is the address of a range on which an instruction from
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

}  // namespace detail

}  // namespace aqueduct
