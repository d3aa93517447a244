#pragma once

#include <aqueduct/atomics.hpp>

#include <initializer_list>

namespace aqueduct {

/// Which ranks a domain's atomics should be fast for.
enum class AtomicFavour : std::uint8_t {
  remote,  ///< ranks of other hosts: the network does them, if it supports all of the domain's operations
  near,    ///< ranks of this host: processors do them
};

/// The operations that a program uses on some words of one type. A network supports only some atomics, and its
/// atomics are not atomic with respect to those of a processor. So either the network does all operations of a
/// domain, or processors do. A domain of operations that adapters commonly support (load, add, compare_swap on 64
/// bits) is done by the adapter, without the owner's processor.
///
/// Every rank that uses the words makes a domain with equal arguments; this takes no communication. After a barrier,
/// a word may be used through another domain, by the free functions or as plain memory.
///
/// Lifetime: at most that of its endpoint. Copying is cheap.
///
/// Source: GASNet-EX specification, "Remote atomics: atomic domains".
template <Atomic T>
class AtomicDomain {
 public:
  AtomicDomain(Endpoint& ep, std::initializer_list<AtomicOp> operations,
               AtomicFavour favour = AtomicFavour::remote) noexcept
      : ep_(&ep) {
    for (AtomicOp op : operations) {
      if (detail::has<T>(op)) operations_ |= bit(op);  // floats do not have the bitwise ones
    }
    way_ = detail::WayOfDomain::of(ep, detail::atomic_by(ep, operations_, detail::atomic_type<T>(), favour));
  }

  /// Whether the network does the domain's atomics. All ranks get the same answer.
  bool is_native() const noexcept { return way_.by == detail::AtomicBy::network; }
  /// Whether the operation belongs to the domain.
  bool has(AtomicOp op) const noexcept { return (operations_ & bit(op)) != 0; }

  // These behave as the free functions in atomics.hpp (completion, lifetime, errors). They also return invalid_argument
  // for an operation that is not in the domain or that T does not support.

  /// Does `op` with `operand`; `result`, if not null, receives the old value.
  [[gnu::always_inline]] Event nb(AtomicOp op, GlobalPtr<T> at, T operand, T* result = nullptr,
                                  const AtomicOptions& options = {}) const noexcept {
    if (!has(op) || op == AtomicOp::compare_swap) [[unlikely]]
      return Event(foreign(at));
    return detail::atomic_nb<T>(*ep_, op, at, operand, T{}, result, options, way_);
  }
  /// As nb, with implicit completion.
  [[gnu::always_inline]] Status nbi(AtomicOp op, GlobalPtr<T> at, T operand, T* result = nullptr,
                                    const AtomicOptions& options = {}) const noexcept {
    if (!has(op) || op == AtomicOp::compare_swap) [[unlikely]]
      return foreign(at);
    return detail::atomic_nbi<T>(*ep_, op, at, operand, T{}, result, options, way_);
  }
  /// Does `op`, waits, and returns the old value.
  [[gnu::always_inline]] Result<T> fetch(AtomicOp op, GlobalPtr<T> at, T operand) const noexcept {
    if (!has(op) || op == AtomicOp::compare_swap) [[unlikely]]
      return foreign(at);
    return detail::atomic_fetch<T>(*ep_, op, at, operand, T{}, way_);
  }
  /// Does `op` and waits.
  [[gnu::always_inline]] Status apply(AtomicOp op, GlobalPtr<T> at, T operand) const noexcept {
    if (!has(op) || op == AtomicOp::compare_swap) [[unlikely]]
      return foreign(at);
    return detail::atomic<T>(*ep_, op, at, operand, way_);
  }

  [[gnu::always_inline]] Result<T> load(GlobalPtr<T> at) const noexcept {
    return fetch(AtomicOp::load, at, T{});
  }
  [[gnu::always_inline]] Status store(GlobalPtr<T> at, T value) const noexcept {
    return apply(AtomicOp::store, at, value);
  }
  [[gnu::always_inline]] Status add(GlobalPtr<T> at, T value) const noexcept {
    return apply(AtomicOp::add, at, value);
  }
  [[gnu::always_inline]] Result<T> fetch_add(GlobalPtr<T> at, T value) const noexcept {
    return fetch(AtomicOp::add, at, value);
  }
  [[gnu::always_inline]] Result<T> swap(GlobalPtr<T> at, T value) const noexcept {
    return fetch(AtomicOp::swap, at, value);
  }
  /// Stores `desired` if the target equals `expected`. Returns the old value, which equals `expected` on success.
  [[gnu::always_inline]] Result<T> compare_swap(GlobalPtr<T> at, T expected, T desired) const noexcept {
    if (!has(AtomicOp::compare_swap)) [[unlikely]]
      return foreign(at);
    return detail::atomic_fetch<T>(*ep_, AtomicOp::compare_swap, at, desired, expected, way_);
  }
  /// Non-blocking compare_swap. `result`, if not null, receives the old value.
  [[gnu::always_inline]] Event compare_swap_nb(GlobalPtr<T> at, T expected, T desired, T* result = nullptr,
                                               const AtomicOptions& options = {}) const noexcept {
    if (!has(AtomicOp::compare_swap)) [[unlikely]]
      return Event(foreign(at));
    return detail::atomic_nb<T>(*ep_, AtomicOp::compare_swap, at, desired, expected, result, options, way_);
  }
  /// As compare_swap_nb, with implicit completion.
  [[gnu::always_inline]] Status compare_swap_nbi(GlobalPtr<T> at, T expected, T desired, T* result = nullptr,
                                                 const AtomicOptions& options = {}) const noexcept {
    if (!has(AtomicOp::compare_swap)) [[unlikely]]
      return foreign(at);
    return detail::atomic_nbi<T>(*ep_, AtomicOp::compare_swap, at, desired, expected, result, options, way_);
  }

 private:
  static constexpr std::uint32_t bit(AtomicOp op) noexcept { return 1u << static_cast<unsigned>(op); }
  static Status foreign(GlobalPtr<T> at) noexcept { return {ErrorCode::invalid_argument, at.rank()}; }

  Endpoint* ep_;
  std::uint32_t operations_ = 0;
  detail::WayOfDomain way_;
};

}  // namespace aqueduct
