#pragma once

#include <aqueduct/rma.hpp>
#include <aqueduct/signal_types.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>

namespace aqueduct {

/// Adds to a counter of rank `to`. A reader that sees the sum also sees all puts from here whose Events were finished.
///
/// Completion: remote: when the counter has been raised.
/// Errors:     out_of_range (rank or slot), peer_lost, no_memory; in_handler if the counter is not mapped here.
Status signal(Endpoint& ep, Rank to, Signal what = {}) noexcept;
Event signal_nb(Endpoint& ep, Rank to, Signal what = {}) noexcept;

namespace detail {
Event put_signal_bytes(Endpoint&, GlobalPtr<std::byte> to, const void* from, std::size_t bytes, Signal,
                       const PutOptions&) noexcept;
Event put_signal_bytes(Endpoint&, GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                       const SignalWord&, const PutOptions&) noexcept;
Status put_signal_nbi_bytes(Endpoint&, GlobalPtr<std::byte> to, const void* from, std::size_t bytes, Signal,
                            const PutOptions&) noexcept;
Status put_signal_nbi_bytes(Endpoint&, GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                            const SignalWord&, const PutOptions&) noexcept;
}  // namespace detail

/// Writes `from`, then adds to a counter of the same rank. A reader that sees the sum sees the bytes.
///
/// Shape, Errors: as put_nb and signal. With zero bytes, only the signal is sent.
/// Completion:    remote: when the bytes are in place and the counter has been raised.
/// Lifetime:      `from` until completion, or as PutOptions::source says.
/// Cost:          one message where the network can announce a put, or where the bytes fit one packet; otherwise the
///                signal follows the bytes.
/// Source:        OpenSHMEM 1.5, shmem_put_signal; GASNet-EX AM Long as the fallback.
template <detail::Writable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Event put_signal_nb(Endpoint& ep, GlobalPtr<T> to, R&& from, Signal what = {},
                           const PutOptions& options = {}) noexcept {
  return detail::put_signal_bytes(ep, detail::plain(to), std::ranges::data(from), detail::size_in_bytes(from),
                                  what, options);
}
template <detail::Writable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status put_signal(Endpoint& ep, GlobalPtr<T> to, R&& from, Signal what = {}) noexcept {
  return ep.wait(put_signal_nb(ep, to, from, what));
}
/// As put_signal_nb, with implicit completion. Errors: returned if nothing was begun.
template <detail::Writable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status put_signal_nbi(Endpoint& ep, GlobalPtr<T> to, R&& from, Signal what = {},
                             const PutOptions& options = {}) noexcept {
  return detail::put_signal_nbi_bytes(ep, detail::plain(to), std::ranges::data(from),
                                      detail::size_in_bytes(from), what, options);
}
template <class T, detail::TemporaryRange R>
Event put_signal_nb(Endpoint&, GlobalPtr<T>, R&&, Signal = {}, const PutOptions& = {}) = delete;
template <class T, detail::TemporaryRange R>
Status put_signal_nbi(Endpoint&, GlobalPtr<T>, R&&, Signal = {}, const PutOptions& = {}) = delete;

// With a SignalWord the argument names its type, as in SignalWord{at, 5, SignalOp::set}: so `{}` is a Signal.

/// Writes `from`, then adds to a 64-bit word of the same rank, or sets it. A reader that sees the word's new value by an
/// acquire load (wait_on, an atomic) sees the bytes.
///
/// The update is atomic with the other updates of the word by signals, and with the atomics that belong to no domain
/// (atomics.hpp), whether processors or the network do those. A wait_on that sleeps is woken.
///
/// Shape:       `what.at` is of the same rank as `to`; its address on its owner is a multiple of 8. With zero bytes, only
///              the word changes.
/// Completion:  remote: when the bytes are in place and the word has changed.
/// Lifetime:    `from` until completion, or as PutOptions::source says.
/// Errors:      as put_nb, for the bytes and for the word; invalid_argument (the word is of another rank), misaligned.
///              The word does not change if the bytes do not arrive.
/// Cost:        mapped: a copy and an atomic instruction. Otherwise one message where the conduit can announce a put in a
///              word, or where the bytes fit one packet and processors do the job's atomics; else the word's update
///              follows the bytes as a message of its own.
/// Source:      OpenSHMEM 1.5, shmem_put_signal.
template <detail::Writable T, detail::LastingRange R, std::same_as<SignalWord> W>
  requires detail::RangeOf<T, R>
inline Event put_signal_nb(Endpoint& ep, GlobalPtr<T> to, R&& from, W what,
                           const PutOptions& options = {}) noexcept {
  return detail::put_signal_bytes(ep, detail::plain(to), std::ranges::data(from), detail::size_in_bytes(from),
                                  what, options);
}
template <detail::Writable T, detail::LastingRange R, std::same_as<SignalWord> W>
  requires detail::RangeOf<T, R>
inline Status put_signal(Endpoint& ep, GlobalPtr<T> to, R&& from, W what) noexcept {
  return ep.wait(put_signal_nb(ep, to, from, what));
}
/// As put_signal_nb, with implicit completion. Errors: returned if nothing was begun.
template <detail::Writable T, detail::LastingRange R, std::same_as<SignalWord> W>
  requires detail::RangeOf<T, R>
inline Status put_signal_nbi(Endpoint& ep, GlobalPtr<T> to, R&& from, W what,
                             const PutOptions& options = {}) noexcept {
  return detail::put_signal_nbi_bytes(ep, detail::plain(to), std::ranges::data(from),
                                      detail::size_in_bytes(from), what, options);
}
template <class T, detail::TemporaryRange R, std::same_as<SignalWord> W>
Event put_signal_nb(Endpoint&, GlobalPtr<T>, R&&, W, const PutOptions& = {}) = delete;
template <class T, detail::TemporaryRange R, std::same_as<SignalWord> W>
Status put_signal_nbi(Endpoint&, GlobalPtr<T>, R&&, W, const PutOptions& = {}) = delete;

/// The value of my counter: an acquire load. 0 if there is no such slot.
///
/// Also makes progress, at most once a microsecond, if signals of other ranks arrive as messages. So a loop that polls a
/// counter ends (docs/progress.md, P-5).
std::uint64_t signal_value(Endpoint& ep, SignalSlot slot) noexcept;
/// Sets my counter. Requires: no rank is adding to it. Errors: out_of_range.
Status reset_signal(Endpoint& ep, SignalSlot slot, std::uint64_t value = 0) noexcept;
/// Returns whether my counter has reached `at_least`, after at most one round of progress. Also true in a forked child,
/// where it never can: `wait_until` then fails.
bool test_until(Endpoint& ep, SignalSlot slot, std::uint64_t at_least) noexcept;

/// Waits until my counter has reached `at_least`.
///
/// `from` is the rank that is expected to signal: its loss ends the wait. With kAnyRank the loss of any rank does.
///
/// Errors: out_of_range (slot or `from`), in_handler, peer_lost (signals that arrived before the loss count),
///         timed_out.
Status wait_until(Endpoint& ep, SignalSlot slot, std::uint64_t at_least, Rank from = kAnyRank,
                  std::chrono::nanoseconds limit = std::chrono::nanoseconds::max()) noexcept;

}  // namespace aqueduct
