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
  bool writes_freely = false;  ///< Epochs::writes_freely of the epoch
  std::uint64_t senders = 0;   ///< bit q: member q writes to this member (teams with clears)
};

/// Hands out the banks of a team's scratch.
///
/// Operations get portions of the bank one after the other. An operation that does not fit begins the next *epoch*, in
/// the next bank. So a portion is a pure function of the needs of all operations so far. Members make the same calls in
/// the same order, and get the same portions without a message.
class ScratchBanks {
 public:
  explicit ScratchBanks(const ScratchLayout& layout) noexcept;

  /// The portion of the next operation. Requires: the layout does not refuse the needs.
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
  /// operation, or an earlier one, begins another epoch, or allow_again forbids it; nothing has happened, but for the
  /// portion's offset.
  bool open_again(Portion& portion) noexcept {
    if (portion.epoch != again_in_) return false;
    // Each value is stored as soon as it can be: the fewer registers this takes, the fewer its callers have to save.
    portion.offset = next_.offset;
    const std::uint64_t bytes_end = portion.offset + portion.bytes;
    if (bytes_end > bytes_end_) return false;
    const std::uint32_t counter = next_.first_counter, counters_end = counter + portion.counters;
    if (counters_end > counters_end_) return false;
    portion.first_counter = counter;
    next_.offset = bytes_end;
    next_.first_counter = counters_end;
    return true;
  }
  /// Whether open_again may open an operation. At first it may.
  void allow_again(bool allowed) noexcept { again_in_ = allowed ? next_.epoch : kNoEpoch; }
  /// The epoch of the latest operation; 0 before the first.
  std::uint64_t epoch() const noexcept { return next_.epoch; }

 private:
  static constexpr std::uint64_t kNoEpoch = ~std::uint64_t{0};
  void begin(std::uint64_t epoch) noexcept;

  const ScratchLayout& layout_;
  Portion next_;                ///< where the next one begins in the bank
  std::uint64_t again_in_ = 0;  ///< the epoch; kNoEpoch: open_again opens none
  // Where the bank ends.
  std::uint64_t bytes_end_ = 0;
  std::uint32_t counters_end_ = 0;
};

}  // namespace aqueduct::coll
