#pragma once

#include <cstdint>
#include <optional>

namespace aqueduct::core {

/// What the members of a barrier have said so far: nothing, one value, or values that differ. Votes are merged in any
/// order, and any vote may be merged twice, so every member gets the same result from every algorithm.
class BarrierVote {
 public:
  enum class Kind : std::uint32_t { anonymous, value, mismatch };

  /// A member that says nothing. It agrees with every value.
  constexpr BarrierVote() noexcept = default;
  explicit constexpr BarrierVote(std::uint32_t value) noexcept : kind_(Kind::value), value_(value) {}

  /// Of a member with which nobody agrees.
  static constexpr BarrierVote disagreement() noexcept { return of(Kind::mismatch, 0); }

  constexpr bool is_anonymous() const noexcept { return kind_ == Kind::anonymous; }
  constexpr bool is_mismatch() const noexcept { return kind_ == Kind::mismatch; }

  /// The value that has been given, if there is one and no other.
  constexpr std::optional<std::uint32_t> value() const noexcept {
    return kind_ == Kind::value ? std::optional(value_) : std::nullopt;
  }

  constexpr void merge(BarrierVote other) noexcept {
    if (other.is_anonymous() || *this == other) return;
    *this = is_anonymous() ? other : of(Kind::mismatch, 0);
  }

  /// The vote in 64 bits, for words in shared memory and for messages. 0 is anonymous.
  constexpr std::uint64_t bits() const noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(kind_)} << 32 | value_;
  }
  /// The vote with these bits. Bits that no vote has become a mismatch, because a peer may send anything.
  static constexpr BarrierVote from_bits(std::uint64_t bits) noexcept {
    if (bits == 0) return {};
    if (bits >> 32 == static_cast<std::uint32_t>(Kind::value))
      return BarrierVote(static_cast<std::uint32_t>(bits));
    return of(Kind::mismatch, 0);
  }

  friend constexpr bool operator==(BarrierVote, BarrierVote) noexcept = default;

 private:
  static constexpr BarrierVote of(Kind kind, std::uint32_t value) noexcept {
    BarrierVote vote(value);
    vote.kind_ = kind;
    return vote;
  }

  Kind kind_ = Kind::anonymous;
  std::uint32_t value_ = 0;
};

}  // namespace aqueduct::core
