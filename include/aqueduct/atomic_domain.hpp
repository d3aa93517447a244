#pragma once

#include <aqueduct/atomics.hpp>

#include <initializer_list>

namespace aqueduct {

/// Whose atomics a domain is to be fast for.
enum class AtomicFavour : std::uint8_t {
  remote,  ///< ranks of other hosts: by the network, if it has all of the domain's operations
  near,    ///< ranks of this host: by processors
};

/// The operations that a program uses on some words of one type. Networks have only some atomics, and what a network
/// does is not atomic with respect to what a processor does: so all of a domain's operations are done by the one or by the
/// other. A domain of what adapters commonly have (load, add, compare_swap on 64 bits) is done by them, without the owner.
///
/// Every rank that uses the words makes a domain with equal arguments; that takes no communication. A word may be used
/// through another domain, by the free functions or as plain memory, after a barrier. Cheap to copy; no longer than its
/// endpoint.
///
/// Source: GASNet-EX specification, "Remote atomics: atomic domains".
template <Atomic T>
class AtomicDomain {
 public:
  AtomicDomain(Endpoint& ep, std::initializer_list<AtomicOp> operations,
               AtomicFavour favour = AtomicFavour::remote) noexcept
      : ep_(&ep) {
    for (AtomicOp op : operations) {
      if (detail::has<T>(op)) operations_ |= bit(op);  // floats have some only
    }
    by_ = detail::atomic_by(ep, operations_, detail::atomic_type<T>(), favour);
  }

  /// Whether the network does them. The same for all ranks.
  bool is_native() const noexcept { return by_ == detail::AtomicBy::network; }
  bool has(AtomicOp op) const noexcept { return (operations_ & bit(op)) != 0; }

  // As the free functions of the same meaning. Errors: also invalid_argument, for what is not of the domain or what T has not.

  /// Does `op` with `operand`; `result`, if not null, receives the value before.
  [[gnu::always_inline]] Event nb(AtomicOp op, GlobalPtr<T> at, T operand, T* result = nullptr,
                                  const AtomicOptions& options = {}) const noexcept {
    if (!has(op) || op == AtomicOp::compare_swap) [[unlikely]]
      return Event(foreign(at));
    return detail::atomic_nb<T>(*ep_, op, at, operand, T{}, result, options, by_);
  }
  /// The same with implicit completion.
  [[gnu::always_inline]] Status nbi(AtomicOp op, GlobalPtr<T> at, T operand, T* result = nullptr,
                                    const AtomicOptions& options = {}) const noexcept {
    if (!has(op) || op == AtomicOp::compare_swap) [[unlikely]]
      return foreign(at);
    return detail::atomic_nbi<T>(*ep_, op, at, operand, T{}, result, options, by_);
  }
  /// Blocking: the value before.
  [[gnu::always_inline]] Result<T> fetch(AtomicOp op, GlobalPtr<T> at, T operand) const noexcept {
    if (!has(op) || op == AtomicOp::compare_swap) [[unlikely]]
      return foreign(at);
    return detail::atomic_fetch<T>(*ep_, op, at, operand, T{}, by_);
  }
  /// Blocking, not fetching.
  [[gnu::always_inline]] Status apply(AtomicOp op, GlobalPtr<T> at, T operand) const noexcept {
    if (!has(op) || op == AtomicOp::compare_swap) [[unlikely]]
      return foreign(at);
    return detail::atomic<T>(*ep_, op, at, operand, by_);
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
  /// Stores `desired` if the target equals `expected`; the value before, which equals `expected` on success.
  [[gnu::always_inline]] Result<T> compare_swap(GlobalPtr<T> at, T expected, T desired) const noexcept {
    if (!has(AtomicOp::compare_swap)) [[unlikely]]
      return foreign(at);
    return detail::atomic_fetch<T>(*ep_, AtomicOp::compare_swap, at, desired, expected, by_);
  }
  /// The non-blocking form.
  [[gnu::always_inline]] Event compare_swap_nb(GlobalPtr<T> at, T expected, T desired, T* result,
                                               const AtomicOptions& options = {}) const noexcept {
    if (!has(AtomicOp::compare_swap)) [[unlikely]]
      return Event(foreign(at));
    return detail::atomic_nb<T>(*ep_, AtomicOp::compare_swap, at, desired, expected, result, options, by_);
  }

 private:
  static constexpr std::uint32_t bit(AtomicOp op) noexcept { return 1u << static_cast<unsigned>(op); }
  static Status foreign(GlobalPtr<T> at) noexcept { return {ErrorCode::invalid_argument, at.rank()}; }

  Endpoint* ep_;
  std::uint32_t operations_ = 0;
  detail::AtomicBy by_ = detail::AtomicBy::processor;
};

}  // namespace aqueduct
