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
    if (next_.offset + bytes > bytes_end_ || next_.first_counter + needs.counters > counters_end_)
        [[unlikely]]
      begin(next_.epoch + 1);
    Portion portion = next_;
    portion.bytes = bytes;
    portion.counters = needs.counters;
    next_.offset += bytes;
    next_.first_counter += needs.counters;
    return portion;
  }
  /// The same for an operation with the needs of an earlier one, whose portion becomes that of this one. False: this
  /// operation, or an earlier one, begins another epoch, and nothing has happened.
  bool open_again(Portion& portion) noexcept {
    if (portion.epoch != next_.epoch) return false;
    const std::uint64_t offset = next_.offset, bytes_end = offset + portion.bytes;
    if (bytes_end > bytes_end_) return false;
    const std::uint32_t counter = next_.first_counter, counters_end = counter + portion.counters;
    if (counters_end > counters_end_) return false;
    portion.offset = offset;
    portion.first_counter = counter;
    next_.offset = bytes_end;
    next_.first_counter = counters_end;
    return true;
  }
  /// The epoch of the latest operation; 0 before the first.
  std::uint64_t epoch() const noexcept { return next_.epoch; }

 private:
  void begin(std::uint64_t epoch) noexcept;

  const ScratchLayout& layout_;
  Portion next_;  ///< where the next one begins in the bank
  // Where the bank ends.
  std::uint64_t bytes_end_ = 0;
  std::uint32_t counters_end_ = 0;
};

}  // namespace aqueduct::coll
