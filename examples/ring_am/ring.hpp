#pragma once

#include <aqueduct/aqueduct.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ring_am {

/// The kind of message that carries the token.
enum class Carrier { short_am, medium_am, long_am };

/// The arguments of every message: how far the token has come, and the sum of its payload.
struct Token {
  std::uint64_t hop = 0;    // counted from 0 by the sender
  std::uint64_t words = 0;  // of payload
  std::uint64_t sum = 0;    // of the payload's words; of a short message: of the words of all hops so far
};

/// The word that a hop adds. A payload starts with one word and doubles with each hop; the hop's word fills the new
/// half. When there is no room to double, the payload restarts with one word.
constexpr std::uint64_t word_of(std::uint64_t hop) { return (hop + 1) * 0x9E3779B97F4A7C15u; }

std::uint64_t sum_of(std::span<const std::uint64_t> words);

/// This rank's place in a ring of all ranks: it takes the token from the previous rank and hands it on to the next.
///
/// A handler may reply but not send requests or wait, so it keeps the token
/// and acknowledges it; `hand_on` runs outside.
class Ring {
 public:
  /// Collective. `most_bytes` bounds the payload of the long messages.
  Ring(aqueduct::Endpoint& ep, std::size_t most_bytes);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// The largest payload, in words, that can be sent to the next rank and back.
  std::size_t most_words(Carrier carrier) const;

  /// Adds this hop's word to the current token (see word_of) and sends the token to the next rank.
  ///
  /// Completion: the next rank has the token and has replied; only then may my receive areas be overwritten.
  void hand_on(Carrier carrier);
  /// Waits for the token from the previous rank and checks it.
  void take(Carrier carrier);

  const Token& token() const { return token_; }
  /// Starts again with an empty token.
  void reset() { token_ = {}, payload_.clear(); }

 private:
  void register_handlers();
  void keep(aqueduct::Rank from, const Token& token, std::span<const std::byte> payload);
  void acknowledged(const Token& token, std::span<const std::byte> payload, bool has_payload);
  aqueduct::GlobalPtr<std::byte> area(aqueduct::Rank rank, std::size_t which) const;

  aqueduct::Endpoint& ep_;
  aqueduct::Rank next_;
  aqueduct::Rank previous_;
  std::size_t most_bytes_;
  aqueduct::Segment areas_;  // two areas of most_bytes_: for the token's payload and for the reply's

  aqueduct::ShortRequest<Token> short_;
  aqueduct::MediumRequest<Token> medium_;
  aqueduct::LongRequest<Token> long_;
  aqueduct::ShortReply<Token> short_reply_;
  aqueduct::MediumReply<Token> medium_reply_;
  aqueduct::LongReply<Token> long_reply_;

  // The handlers write these.
  Token token_;  // the last one received
  std::vector<std::uint64_t> payload_;
  std::uint64_t taken_ = 0;    // tokens received
  std::uint64_t replies_ = 0;  // replies to tokens that I have sent

  std::uint64_t expected_ = 0;  // calls of `take`
  std::uint64_t sent_ = 0;      // tokens that I have sent
};

}  // namespace ring_am
