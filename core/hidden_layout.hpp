#pragma once

#include <aqueduct/config.hpp>
#include <aqueduct/signal_types.hpp>

#include <cstdint>

namespace aqueduct::core {

/// How much of segment 1 belongs to the collectives engine: the same on all ranks.
struct HiddenSizes {
  std::uint64_t counters = 0;  ///< a multiple of 8: whole lines of 64 bytes
  std::uint64_t scratch = 0;   ///< bytes; a multiple of 64
  /// Bytes of the scratch that the settings do not name: more for the board of all ranks.
  std::uint64_t board = 0;

  /// For ranks that all share a host's memory. It must be so on all of them, or on none.
  void add_board() noexcept {
    board = kBoard;
    scratch += kBoard;
  }
  /// Chosen: with the default settings, eight slots of 256 KiB for each member (coll/shared/board_lines.hpp).
  static constexpr std::uint64_t kBoard = (2 << 20) + (256 << 10);

  static HiddenSizes of(const Config& settings) {
    return {static_cast<std::uint64_t>(settings.number("coll_counters")) / 8 * 8,
            static_cast<std::uint64_t>(settings.number("coll_scratch")) / 64 * 64, 0};
  }
};

/// Where things are in one rank's part of segment 1, in this order: the program's signal counters; from the next multiple
/// of kLine, the engine's counters; the engine's scratch. All counters are signal slots, numbered from the part's
/// beginning, but public calls refuse those of the engine. Last comes a table that ranks of a host share (topology/): in
/// the part of the host's first rank.
///
/// The program's number of counters may differ between ranks. It follows from the part's size, which all ranks know.
struct HiddenLayout {
  static constexpr std::uint64_t kLine = 64;  ///< bytes
  static constexpr std::uint64_t kSlot = sizeof(std::uint64_t);
  static constexpr std::uint64_t kTable =
      16384;  ///< bytes; chosen: the sizes of caches, a line, and the levels of 500 processors

  std::uint64_t user_slots = 0;
  SignalSlot first_counter = 0;  ///< the slot of the engine's first counter
  std::uint64_t counters = 0;
  std::uint64_t scratch_at = 0;  ///< offset in the part, in bytes; a multiple of kLine
  std::uint64_t scratch = 0;     ///< bytes
  std::uint64_t table_at = 0;    ///< offset in the part, in bytes; a multiple of kLine
  std::uint64_t table = 0;       ///< bytes

  /// The bytes of a part that are not for the program's counters. The same whatever their number, so that the number can
  /// be computed from the part's size: what the program's counters leave of their last line is not saved.
  static constexpr std::uint64_t beside_user(const HiddenSizes& sizes) noexcept {
    return kLine - kSlot + sizes.counters * kSlot + sizes.scratch + kTable;
  }
  /// The size of a part.
  static constexpr std::uint64_t bytes(std::uint64_t user_slots, const HiddenSizes& sizes) noexcept {
    return user_slots * kSlot + beside_user(sizes);
  }
  /// The layout of a part of that size. All 0 if the part is too small, as that of a rank that has none.
  static constexpr HiddenLayout of(std::uint64_t part_bytes, const HiddenSizes& sizes) noexcept {
    if (part_bytes < beside_user(sizes)) return {};
    const std::uint64_t user = (part_bytes - beside_user(sizes)) / kSlot;
    const std::uint64_t first = (user * kSlot + kLine - 1) / kLine * kLine / kSlot;
    const std::uint64_t scratch_at = (first + sizes.counters) * kSlot;
    return {user,          static_cast<SignalSlot>(first), sizes.counters, scratch_at,
            sizes.scratch, scratch_at + sizes.scratch,     kTable};
  }
  /// The number of slots in all: each of them may be raised by a peer.
  constexpr std::uint64_t slots() const noexcept { return first_counter + counters; }
};

/// The number of slots that signals to a rank with these settings can name.
inline std::uint64_t hidden_slots(const Config& settings) {
  const HiddenSizes sizes = HiddenSizes::of(settings);
  const auto user = static_cast<std::uint64_t>(settings.number("signals"));
  return HiddenLayout::of(HiddenLayout::bytes(user, sizes), sizes).slots();
}

}  // namespace aqueduct::core
