#pragma once

#include <aqueduct/rma.hpp>

#include <chrono>
#include <cstdint>

namespace aqueduct {

/// A counter that belongs to a rank: others add to it, the owner waits for it to reach a value.
///
/// Each endpoint has AQUEDUCT_SIGNALS of them (slots 0, 1, …), 64 bits each, 0 at the start, never falling
/// unless their owner resets them.
using SignalSlot = std::uint32_t;

/// What a put adds, and where, once its bytes are in place.
struct Signal {
  SignalSlot slot = 0;
  std::uint64_t add = 1;
};

/// Adds to a counter of `to`. Everything this rank put there with a finished Event is visible before the sum is.
///
/// Completion: the Event (of `_nb`) is done when the counter has been raised.
/// Errors:     out_of_range (rank or slot), peer_lost.
Status signal(Endpoint& ep, Rank to, Signal what = {}) noexcept;
Event signal_nb(Endpoint& ep, Rank to, Signal what = {}) noexcept;

namespace detail {
Event put_signal_bytes(Endpoint&, GlobalPtr<std::byte> to, const void* from, std::size_t bytes, Signal,
                       const PutOptions&) noexcept;
}

/// Writes `from`, then adds to a counter of the same rank: whoever sees the sum sees the bytes.
///
/// Shape, Errors: as put_nb and signal. Zero bytes are legal: the signal alone.
/// Completion:    remote, of both.
/// Cost:          one message where the network can announce a put, or where the bytes fit one packet.
/// Source:        OpenSHMEM 1.5, shmem_put_signal; GASNet-EX AM Long as the fallback.
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Event put_signal_nb(Endpoint& ep, GlobalPtr<T> to, R&& from, Signal what = {},
                           const PutOptions& options = {}) noexcept {
  return detail::put_signal_bytes(ep, detail::plain(to), std::ranges::data(from), detail::size_in_bytes(from),
                                  what, options);
}
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status put_signal(Endpoint& ep, GlobalPtr<T> to, R&& from, Signal what = {}) noexcept {
  return ep.wait(put_signal_nb(ep, to, from, what));
}
template <class T, detail::TemporaryRange R>
Event put_signal_nb(Endpoint&, GlobalPtr<T>, R&&, Signal = {}, const PutOptions& = {}) = delete;

/// My counter's present value: an acquire load. 0 if there is no such slot.
std::uint64_t signal_value(Endpoint& ep, SignalSlot slot) noexcept;
/// Sets my counter, for the next round. Requires: nobody is adding to it.
Status reset_signal(Endpoint& ep, SignalSlot slot, std::uint64_t value = 0) noexcept;
/// One round of progress; whether my counter has reached `at_least`, or never can, in a forked child (then `wait_until` fails).
bool test_until(Endpoint& ep, SignalSlot slot, std::uint64_t at_least) noexcept;

/// Waits until my counter has reached `at_least`.
///
/// `from` is the rank expected to signal; with kAnyRank the loss of any rank ends the wait.
/// Errors: out_of_range, in_handler, peer_lost (a signal that arrived before the loss still counts), timed_out.
Status wait_until(Endpoint& ep, SignalSlot slot, std::uint64_t at_least, Rank from = kAnyRank,
                  std::chrono::nanoseconds limit = std::chrono::nanoseconds::max()) noexcept;

}  // namespace aqueduct
