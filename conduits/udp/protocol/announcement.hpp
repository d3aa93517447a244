#pragma once

#include <aqueduct/signal_types.hpp>

#include "conduits/udp/protocol/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace aqueduct::conduits::udp {

/// The signal of a put: nothing, a numbered one, or one to a word of a segment.
struct Announcement {
  enum class Kind : std::uint8_t { nothing, slot, word };
  Kind kind = Kind::nothing;
  SignalOp op = SignalOp::add;  ///< of a word
  std::uint32_t where = 0;      ///< the slot, or the word's segment
  std::uint64_t offset = 0;     ///< of a word
  std::uint64_t value = 0;

  static Announcement of(const Signal& signal) noexcept {
    return {Kind::slot, SignalOp::add, signal.slot, 0, signal.add};
  }
  /// What the parts of a frame say, as they came from a peer.
  static Announcement of(std::uint8_t flags, const SignalPart& signal, const WordPart& word) noexcept {
    if ((flags & kSignal) == 0) return {};
    const bool is_word = (flags & kToWord) != 0;
    return {is_word ? Kind::word : Kind::slot, (flags & kSetsWord) != 0 ? SignalOp::set : SignalOp::add,
            signal.slot, is_word ? word.offset : 0, signal.add};
  }

  /// The flags of a frame with it.
  std::uint8_t flags() const noexcept {
    if (kind == Kind::nothing) return 0;
    if (kind == Kind::slot) return kSignal;
    return static_cast<std::uint8_t>(op == SignalOp::set ? kSignal | kToWord | kSetsWord : kSignal | kToWord);
  }
  /// The bytes of its parts in a frame.
  std::size_t bytes() const noexcept {
    if (kind == Kind::nothing) return 0;
    return sizeof(SignalPart) + (kind == Kind::word ? sizeof(WordPart) : 0);
  }
  /// Writes its parts for a put of `total` bytes. Returns the place after them.
  std::byte* write_to(std::byte* at, std::uint32_t total) const noexcept {
    if (kind == Kind::nothing) return at;
    const SignalPart signal{where, total, value};
    std::memcpy(at, &signal, sizeof signal);
    at += sizeof signal;
    if (kind == Kind::slot) return at;
    const WordPart word{offset};
    std::memcpy(at, &word, sizeof word);
    return at + sizeof word;
  }
};

}  // namespace aqueduct::conduits::udp
