#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// Which calls of a team this member has said on its board, and their marks: the latest ones. Calls between them are silent, such
/// as the bind of a plan, and take no place here: there may be any number of them.
///
/// Numbers are the lower halves of the calls' numbers.
class SaidCalls {
 public:
  static constexpr std::uint32_t kSilent = 0;  ///< the mark of a silent call; no other call has it
  /// The most calls that are kept for members that are behind. Chosen: more than a team's scratch lets a member be ahead.
  static constexpr std::size_t kMost = 8192;

  /// Keeps the latest `kept` calls, or more. May throw std::bad_alloc.
  explicit SaidCalls(std::size_t kept) : calls_(std::bit_ceil(kept)), due_(calls_.size() / kParts) {}

  /// Of calls in the team's order.
  void say(std::uint32_t number, std::uint32_t mark) noexcept {
    calls_[count_++ & (calls_.size() - 1)] = {number, mark};
  }
  /// Whether it is time to look which calls the others have said last, and to tell `keep_from`.
  bool is_due() const noexcept { return count_ >= due_; }
  /// The member that is furthest behind has said this call last. Keeps more calls from now on if that was long ago. Without memory
  /// it keeps as many as before.
  void keep_from(std::uint32_t number) noexcept {
    if (said_since(number) >= calls_.size() / kParts && calls_.size() < kMost) grow();
    due_ = count_ + calls_.size() / kParts;
  }
  /// The mark of a call that this member has made; nothing if more calls than are kept have been said since.
  std::optional<std::uint32_t> mark_of(std::uint32_t number) const noexcept {
    for (std::size_t i = 1; i <= kept(); ++i) {
      const Said& one = latest(i);
      if (one.number == number) return one.mark;
      if (static_cast<std::int32_t>(number - one.number) > 0) return kSilent;
    }
    if (kept() == count_) return kSilent;
    return std::nullopt;
  }
  /// How many calls are kept at the most.
  std::size_t room() const noexcept { return calls_.size(); }

 private:
  struct Said {
    std::uint32_t number = 0;
    std::uint32_t mark = kSilent;
  };
  /// How far a member may be behind before more calls are kept, and how many are said between two looks at the others: this part of
  /// the room. As many again may be said on the board before the next look. Together they are less than all of it.
  static constexpr std::size_t kParts = 4;

  std::size_t kept() const noexcept {
    return static_cast<std::size_t>(std::min<std::uint64_t>(count_ - first_, calls_.size()));
  }
  /// The `i`-th from the end. Requires: 1 <= i <= kept().
  const Said& latest(std::size_t i) const noexcept { return calls_[(count_ - i) & (calls_.size() - 1)]; }
  /// How many of the calls that are kept were said after this one.
  std::size_t said_since(std::uint32_t number) const noexcept {
    std::size_t since = 0;
    while (since < kept() && static_cast<std::int32_t>(latest(since + 1).number - number) > 0) ++since;
    return since;
  }
  void grow() noexcept try {
    std::vector<Said> more(2 * calls_.size());
    for (std::size_t i = 1; i <= kept(); ++i) more[(count_ - i) & (more.size() - 1)] = latest(i);
    first_ = count_ - kept();
    calls_ = std::move(more);
  } catch (const std::bad_alloc&) {  // it is tried again
  }

  std::vector<Said> calls_;  ///< a power of two: each call of a board looks for its place
  std::uint64_t count_ = 0;
  std::uint64_t first_ =
      0;  ///< calls before this one are forgotten; later ones, too, that have no place in `calls_`
  std::uint64_t due_;  ///< the count at which the others are to be looked at
};

}  // namespace aqueduct::coll
