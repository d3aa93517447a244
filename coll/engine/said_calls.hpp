#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::coll {

/// Which calls of a team this member has said on its board, and their marks: the latest ones. Calls between them are silent, such
/// as the bind of a plan, and take no place here: there may be any number of them.
///
/// Numbers are the lower halves of the calls' numbers.
class SaidCalls {
 public:
  static constexpr std::uint32_t kSilent = 0;  ///< the mark of a silent call; no other call has it

  /// Keeps the latest `kept` calls, or more. May throw std::bad_alloc.
  explicit SaidCalls(std::size_t kept) : calls_(std::bit_ceil(kept)) {}

  /// Of calls in the team's order.
  void say(std::uint32_t number, std::uint32_t mark) noexcept {
    calls_[count_++ & (calls_.size() - 1)] = {number, mark};
  }
  /// The mark of a call that this member has made; nothing if more calls than are kept have been said since.
  std::optional<std::uint32_t> mark_of(std::uint32_t number) const noexcept {
    const std::size_t kept = count_ < calls_.size() ? count_ : calls_.size();
    for (std::size_t i = 1; i <= kept; ++i) {
      const Said& one = calls_[(count_ - i) & (calls_.size() - 1)];
      if (one.number == number) return one.mark;
      if (static_cast<std::int32_t>(number - one.number) > 0) return kSilent;
    }
    if (count_ <= calls_.size()) return kSilent;
    return std::nullopt;
  }

 private:
  struct Said {
    std::uint32_t number = 0;
    std::uint32_t mark = kSilent;
  };
  std::vector<Said> calls_;  ///< a power of two: each call of a board looks for its place
  std::uint64_t count_ = 0;
};

}  // namespace aqueduct::coll
