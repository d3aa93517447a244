#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace aqueduct::coll {

/// Which calls of a team this member has said on its board, and their marks: the latest ones. Calls between them are silent, such
/// as the bind of a plan, and take no place here: there may be any number of them.
///
/// Numbers are the lower halves of the calls' numbers.
class SaidCalls {
 public:
  static constexpr std::size_t kKept = 128;    ///< chosen: twice the lines of a board
  static constexpr std::uint32_t kSilent = 0;  ///< the mark of a silent call; no other call has it

  /// Of calls in the team's order.
  void say(std::uint32_t number, std::uint32_t mark) noexcept { calls_[count_++ % kKept] = {number, mark}; }
  /// The mark of a call that this member has made; nothing if more than kKept calls have been said since.
  std::optional<std::uint32_t> mark_of(std::uint32_t number) const noexcept {
    const std::size_t kept = count_ < kKept ? count_ : kKept;
    for (std::size_t i = 1; i <= kept; ++i) {
      const Said& one = calls_[(count_ - i) % kKept];
      if (one.number == number) return one.mark;
      if (static_cast<std::int32_t>(number - one.number) > 0) return kSilent;
    }
    if (count_ <= kKept) return kSilent;
    return std::nullopt;
  }

 private:
  struct Said {
    std::uint32_t number = 0;
    std::uint32_t mark = kSilent;
  };
  std::array<Said, kKept> calls_{};
  std::uint64_t count_ = 0;
};

}  // namespace aqueduct::coll
