#pragma once

#include "coll/schedule/algorithm.hpp"
#include "coll/scratch/layout.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// The scratch of one operation: the same on all members, but for `senders`.
struct Portion {
  std::uint64_t epoch = 0;
  std::uint64_t offset = 0;  ///< from the beginning of the team's scratch
  std::uint64_t bytes = 0;
  std::uint32_t first_counter = 0;  ///< the operation's counter c is the team's counter first_counter + c
  std::uint32_t counters = 0;
  std::uint64_t senders = 0;  ///< bit q: member q writes to this member (teams with clears)
};

/// Hands out the banks of a team's scratch.
///
/// Operations get portions of the bank one after the other. An operation that does not fit begins the next *epoch*, in
/// the next bank. So a portion is a pure function of the needs of all operations so far. Members make the same calls in
/// the same order, and get the same portions without a message.
class ScratchBanks {
 public:
  explicit ScratchBanks(const ScratchLayout& layout) noexcept;

  /// Null if an operation with these needs can have a portion; otherwise the reason why not, for `explain`.
  const char* refusal(const Needs& needs) const noexcept;
  /// The portion of the next operation. Requires: refusal(needs) is null.
  Portion open(const Needs& needs) noexcept {
    const std::uint64_t bytes = whole_lines(needs.scratch);
    if (bytes > bytes_left_ || needs.counters > counters_left_) [[unlikely]]
      begin(next_.epoch + 1);
    Portion portion = next_;
    portion.bytes = bytes;
    portion.counters = needs.counters;
    next_.offset += bytes;
    next_.first_counter += needs.counters;
    bytes_left_ -= bytes;
    counters_left_ -= needs.counters;
    return portion;
  }
  /// The same for an operation with the needs of an earlier one, whose portion becomes that of this one. False: this
  /// operation, or an earlier one, begins another epoch, and nothing has happened.
  bool open_again(Portion& portion) noexcept {
    if (portion.epoch != next_.epoch || portion.bytes > bytes_left_ || portion.counters > counters_left_)
      return false;
    bytes_left_ -= portion.bytes;
    counters_left_ -= portion.counters;
    portion.offset = next_.offset;
    portion.first_counter = next_.first_counter;
    next_.offset += portion.bytes;
    next_.first_counter += portion.counters;
    return true;
  }
  /// The epoch of the latest operation; 0 before the first.
  std::uint64_t epoch() const noexcept { return next_.epoch; }

 private:
  void begin(std::uint64_t epoch) noexcept;

  const ScratchLayout& layout_;
  Portion next_;  ///< where the next one begins in the bank
  std::uint64_t bytes_left_ = 0;
  std::uint32_t counters_left_ = 0;
};

}  // namespace aqueduct::coll
