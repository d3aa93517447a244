#pragma once

#include <aqueduct/endpoint.hpp>
#include <aqueduct/global_ptr.hpp>
#include <aqueduct/status.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace aqueduct {

/// How a wait compares a word with a value: `word OP value`.
enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

/// What wait_on can wait for: an integer of 32 or 64 bits. Its signedness is that of the comparison.
template <class T>
concept WaitableWord = std::integral<T> && !std::is_same_v<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);

namespace detail {

/// A word that is waited for, without its type.
struct WaitedWord {
  const void* at = nullptr;  ///< its address; null: `place` says where it is
  GlobalPtr<const std::byte> place{};
  std::uint64_t value = 0;  ///< the bits of T, zero-extended
  std::uint8_t bytes = 0;
  bool is_signed = false;
  Comparison how = Comparison::equal;
};

template <class T>
WaitedWord waited_word(Comparison how, T value) noexcept {
  WaitedWord word;
  word.value = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  word.bytes = sizeof(T);
  word.is_signed = std::is_signed_v<T>;
  word.how = how;
  return word;
}

Status wait_on_word(Endpoint&, const WaitedWord&, std::chrono::nanoseconds limit, Rank from) noexcept;
Status test_word(Endpoint&, const WaitedWord&, bool& holds) noexcept;

}  // namespace detail

/// Waits until a word of my part of a segment compares with `value` as `how` says. For several words use
/// Endpoint::wait_until.
///
/// The word is read by acquire loads: a rank that sees a value that another rank stored with release, as by an atomic or a
/// signal word, sees what that rank wrote before. docs/memory-model.md says what holds for puts.
///
/// The wait spins, then yields the core, then sleeps. These end the sleep: an arrival; a neighbour's put or atomic on
/// mapped memory that was given the option `notify`; and a put with a signal word. Other changes are polled for:
/// puts without `notify`, puts that the network does by itself, and stores of this process's other threads. They are
/// seen within 0.1 ms at first, within 1 ms when the wait has lasted for some milliseconds, and in longer waits late by 1/64
/// of the time that they have lasted, but by 20 ms at most.
///
/// The loss of a rank does not end the wait. With `from` it does if that rank is lost; with kAnyRank, if any is.
///
/// Shape:       the word's address is a multiple of its size.
/// Completion:  local; the comparison held at one of the loads.
/// Errors:      misaligned, out_of_range (not in my part of a segment, or no such rank), timed_out, peer_lost (`from` is
///              lost, and the comparison does not hold), in_handler, invalid_argument (no such comparison, or in a
///              forked child).
/// Cost:        a call and a load if the comparison holds. A wait that has been idle for a second takes as much processor
///              time as one in a barrier. The form with a reference searches the list of segments once.
/// Source:      OpenSHMEM 1.5, shmem_wait_until.
template <WaitableWord T>
inline Status wait_on(Endpoint& ep, GlobalPtr<T> word, Comparison how, std::type_identity_t<T> value,
                      std::chrono::nanoseconds limit = std::chrono::nanoseconds::max(),
                      Rank from = kNoRank) noexcept {
  detail::WaitedWord waited = detail::waited_word<std::remove_const_t<T>>(how, value);
  waited.place = {word.rank(), word.offset(), word.segment()};
  return detail::wait_on_word(ep, waited, limit, from);
}
/// As above, for a word that is given by a reference to it.
template <class T>
  requires WaitableWord<std::remove_cv_t<T>>
inline Status wait_on(Endpoint& ep, T& word, Comparison how, std::type_identity_t<T> value,
                      std::chrono::nanoseconds limit = std::chrono::nanoseconds::max(),
                      Rank from = kNoRank) noexcept {
  detail::WaitedWord waited = detail::waited_word<std::remove_cv_t<T>>(how, value);
  waited.at = const_cast<const std::remove_cv_t<T>*>(std::addressof(word));
  return detail::wait_on_word(ep, waited, limit, from);
}

/// Whether a word of my part of a segment compares with `value` as `how` says, after at most one round of progress. The
/// word is read as by wait_on.
///
/// Errors: misaligned, out_of_range, invalid_argument (no such comparison, or in a forked child).
template <WaitableWord T>
inline Result<bool> test_on(Endpoint& ep, GlobalPtr<T> word, Comparison how,
                            std::type_identity_t<T> value) noexcept {
  detail::WaitedWord waited = detail::waited_word<std::remove_const_t<T>>(how, value);
  waited.place = {word.rank(), word.offset(), word.segment()};
  bool holds = false;
  if (Status status = detail::test_word(ep, waited, holds); !status) return status;
  return holds;
}

}  // namespace aqueduct
