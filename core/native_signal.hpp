#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/signal_types.hpp>
#include <aqueduct/status.hpp>

#include "core/post.hpp"

#include <cstdint>

namespace aqueduct::core {

/// A signal to a 64-bit word of a registered segment of the peer. The word's address on its owner is a multiple of 8.
struct RemoteWord {
  std::uint64_t key =
      0;  ///< the handle of the word's segment, which may be another one than that of the bytes
  std::uint64_t offset = 0;  ///< with the 8 bytes there, inside the peer's part
  std::uint64_t value = 0;
  SignalOp op = SignalOp::add;
};

/// A put that the target notices: its conduit calls Inbox::signalled once, after the bytes are in place.
class NativeSignal {
 public:
  virtual ~NativeSignal() = default;
  /// As NativeRma::put without `inject`, but up to Properties::max_inject_signal bytes `from` is read only during the
  /// call. It may be empty: a signal alone. The completion says that the bytes are in place; the target may not have polled yet.
  virtual Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from, Signal signal,
                          Token token) noexcept = 0;
  /// As put_signal, of a put whose completion nobody waits for: it may come late. So the conduit need not ask the target
  /// to acknowledge it at once, and the acknowledgement can travel with what the target sends next. The signal must arrive
  /// although this rank makes no further progress. Requires: at most Properties::max_inject_signal bytes.
  virtual Post put_signal_unwaited(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from,
                                   Signal signal, Token token) noexcept {
    return put_signal(peer, key, offset, from, signal, token);
  }
  /// Where this rank's counters lie: slot s is the 64-bit word s. A conduit that can add to them by itself answers true.
  /// From then on it adds to the word, with release, after the bytes are in place, in place of a call of
  /// Inbox::signalled. That ends a sleep, and counts among the calls of the next `poll`. Called after `connect`, at most
  /// once.
  virtual bool count_in(MutableBytes /*counters*/) noexcept { return false; }
  /// Whether put_signal_word works. The answer does not change after `connect`, and is the same for all peers.
  virtual bool takes_words() const noexcept { return false; }
  /// As put_signal, but in place of the call of Inbox::signalled the target's conduit updates `word` once, after the bytes
  /// are in place (apply_signal in core/word_signal.hpp does it, on the memory of register_segment). The update ends a
  /// sleep of the target, as an arrival does. Called only if takes_words() is true.
  ///
  /// The word is updated by a processor of the target's host, so it is atomic with the processors' atomics.
  virtual Post put_signal_word(Rank /*peer*/, std::uint64_t /*key*/, std::uint64_t /*offset*/, Bytes /*from*/,
                               const RemoteWord& /*word*/, Token /*token*/) noexcept {
    return Post::failed(ErrorCode::not_supported);
  }
};

}  // namespace aqueduct::core
