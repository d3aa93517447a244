#pragma once

#include <aqueduct/endpoint.hpp>

#include "core/conduit.hpp"
#include "core/wiped_memory.hpp"

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace aqueduct::core {

/// How one rank's part of a segment is reached from here. Keys are used at the first access.
///
/// Aligned, so that an index needs no multiplication, and nearly all that a put reads is in one cache line.
struct alignas(64) SegmentPart {
  enum class Reach : std::uint8_t {
    none,       ///< that rank has no part
    unknown,    ///< nothing tried yet
    mapped,     ///< see the window
    native,     ///< the conduit's own operations, with `key`
    reference,  ///< packets
  };
  std::uint64_t bytes = 0;
  std::uint64_t base = 0;          ///< the part's address at its owner; 0 if the part is empty
  std::byte* mapped_at = nullptr;  ///< where a conduit has mapped it, even if its window has closed since
  std::uint64_t key = 0;           ///< the handle from import_key, if `has_key`
  NativeRma* rma = nullptr;        ///< the interface of the conduit that gave the handle
  std::uint64_t max_transfer = 0;  ///< that conduit's property
  /// The longest put and get that may be native at any place: max_transfer; or 0 if words must take another way
  /// (Properties::whole_words), so that only longer ones may.
  std::uint64_t most_put = 0;
  std::uint64_t most_get = 0;
  Reach reach = Reach::unknown;
  bool asked_for_key = false;
  bool has_key = false;  ///< the key was imported; for mapped memory too, if the network does the atomics
  std::vector<std::byte> map_key;  ///< empty: cannot be mapped
  std::vector<std::byte> rma_key;  ///< empty: not registered
  /// For parts on this host, my own included: how the far conduit reaches the part, for atomics by the network.
  std::unique_ptr<SegmentPart> far;

  /// Whether an atomic of `bytes` bytes is aligned there. The address at the owner decides, so all ranks agree.
  bool aligned(std::uint64_t offset, std::size_t bytes) const noexcept {
    return (base + offset) % bytes == 0;
  }
  /// Whether a put or get may be native at any place. `most` is most_put or most_get.
  bool native_anywhere(std::uint64_t bytes, std::uint64_t most) const noexcept {
    if (bytes - 1 < most) [[likely]]  // and not 0
      return true;
    return most == 0 && bytes > sizeof(std::uint64_t) && bytes <= max_transfer;
  }
  /// Whether the bytes are exactly one aligned word.
  bool is_word(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    return bytes <= sizeof(std::uint64_t) && std::has_single_bit(bytes) &&
           aligned(offset, static_cast<std::size_t>(bytes));
  }
};

/// What one endpoint knows of a segment. There are no parts if the segment was released, or if only teams without this
/// rank have used its number.
struct SegmentRecord {
  std::span<std::byte> mine;
  Rank first = 0;  ///< the lowest rank that has a part
  /// The parts of rank `first` and the ranks after it. Ranks outside the team have Reach::none.
  std::vector<SegmentPart> parts;
  std::uint64_t team = 0;  ///< its team's id
  bool attached = false;   ///< `mine` is the program's own memory
  bool released = false;

  /// The part of a rank. If the rank has none, this is null or a part with Reach::none.
  SegmentPart* part(Rank rank) noexcept {
    return rank - first < parts.size() ? &parts[rank - first] : nullptr;  // below `first` wraps around
  }
  const SegmentPart* part(Rank rank) const noexcept { return const_cast<SegmentRecord*>(this)->part(rank); }
};

/// All segments of an endpoint, and the windows that inline code reads. The windows never move.
///
/// In a forked child the table has no segment and no window: see `in_child`.
class SegmentTable {
 public:
  /// Reserves addresses for `capacity` segments, or for fewer if the system has too little address space. A segment's
  /// row of windows takes memory when the segment is added. Throws std::bad_alloc if there is not even room for a few.
  SegmentTable(Rank ranks, std::uint32_t capacity);

  /// How many segments this endpoint can have in its life, released ones included: no number is used twice.
  std::uint32_t capacity() const noexcept { return capacity_; }
  /// The number of the next segment.
  SegmentId size() const noexcept { return shown_->segments; }
  /// Whether this is a forked child's copy, in which nothing is reached.
  bool in_child() const noexcept { return shown_->ranks == 0; }
  SegmentRecord& operator[](SegmentId id) noexcept { return records_[id]; }
  const SegmentRecord& operator[](SegmentId id) const noexcept { return records_[id]; }

  /// Adds the next segment; `parts` are those of `first` and the ranks after it. If it throws std::bad_alloc, nothing
  /// has changed. Requires: size() < capacity().
  SegmentId add(std::span<std::byte> mine, std::vector<SegmentPart> parts, Rank first = 0);
  /// Removes the last segment, whose number may then be used again: another rank could not add it, and it was not used.
  void take_back() noexcept;
  /// Ends a segment: closes its windows, and refuses later operations. Returns its record, whose keys and memory the
  /// caller gives back.
  SegmentRecord release(SegmentId id) noexcept;
  /// Skips numbers that other ranks have used already: the next segment gets the number `next`, if that is higher.
  /// Throws std::bad_alloc. Requires: next <= capacity().
  void skip_to(SegmentId next);
  /// The part that `at` names.
  /// Errors: out_of_range (there are no `bytes` bytes there), closed (the segment was released), invalid_argument (in a
  ///         child).
  Result<SegmentPart*> check(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept;
  /// The part that `at` names, if the conduit's native operations reach the `bytes` bytes there; otherwise null. The
  /// first use of a part finds out whether they do; before it the answer is null too.
  const SegmentPart* native(GlobalPtr<std::byte> at, std::uint64_t bytes) const noexcept {
    if (at.rank() >= shown_->ranks || at.segment() >= shown_->segments) [[unlikely]]
      return nullptr;
    const SegmentRecord& record = records_[at.segment()];
    const Rank index = at.rank() - record.first;  // below `first` it wraps around
    if (index >= record.parts.size()) [[unlikely]]
      return nullptr;
    const SegmentPart& part = record.parts[index];
    const bool inside = at.offset() <= part.bytes && bytes <= part.bytes - at.offset();
    return inside && part.reach == SegmentPart::Reach::native ? &part : nullptr;
  }
  /// The part that `at` names, as `network` reaches it; null if its key has not been imported.
  const SegmentPart* of_network(const NativeRma* network, GlobalPtr<std::byte> at,
                                std::uint64_t bytes) const noexcept {
    const SegmentPart* part = find(at);
    if (part == nullptr) return nullptr;
    if (part->far != nullptr) part = part->far.get();
    const bool inside = at.offset() <= part->bytes && bytes <= part->bytes - at.offset();
    return inside && part->has_key && part->rma == network ? part : nullptr;
  }
  /// The address of `bytes` bytes at `at` if they are mapped here, else null.
  std::byte* mapped(GlobalPtr<std::byte> at, std::uint64_t bytes) const noexcept {
    if (at.rank() >= shown_->ranks || at.segment() >= shown_->segments) return nullptr;
    return windows_[(std::size_t{at.segment()} << shift_) | at.rank()].find(at.offset(), bytes);
  }
  /// Whether a rank's part is mapped here, be its window open or veiled.
  bool is_mapped(SegmentId id, Rank rank) const noexcept {
    const SegmentPart* const part = find({rank, 0, id});
    return part != nullptr && part->reach == SegmentPart::Reach::mapped && part->bytes != 0;
  }
  /// The size of a rank's part in bytes; 0 if there is no such rank or segment.
  std::uint64_t bytes_of(SegmentId id, Rank rank) const noexcept {
    const SegmentPart* const part = find({rank, 0, id});
    return part != nullptr ? part->bytes : 0;
  }
  /// The address of a rank's part at its owner; 0 if there is no such part, or the part is empty.
  std::uint64_t base_of(SegmentId id, Rank rank) const noexcept {
    const SegmentPart* const part = find({rank, 0, id});
    return part != nullptr ? part->base : 0;
  }
  /// Opens a part's window, so that plain instructions reach the part. With `for_values` atomics and reads of values
  /// use plain instructions too.
  void set_window(SegmentId id, Rank rank, std::byte* base, std::uint64_t bytes,
                  bool for_values = true) noexcept;
  /// Closes the windows of a rank's mapped parts, or opens them again. The parts stay mapped, and `find_mapped` finds
  /// them. For a fence, which must see the operations that inline calls would do (core/peer_order.hpp).
  void veil(Rank rank, bool veiled) noexcept;
  /// Closes all windows of a lost rank. None of its parts counts as mapped or native any more.
  void forget(Rank rank) noexcept;

  /// So many rows can be read, whatever the capacity is.
  static constexpr std::uint32_t kFewestRows = 8;
  /// The windows; that of rank r in segment s has the index (s << shift()) | r. Threads other than the one that opens
  /// windows may read them.
  const aqueduct::detail::Window* windows() const noexcept { return windows_; }
  /// The same for atomics and reads of values, see Endpoint::mapped_for_value.
  const aqueduct::detail::Window* value_windows() const noexcept { return value_windows_; }
  std::uint32_t shift() const noexcept { return shift_; }

 private:
  /// The head of the wiped pages.
  struct alignas(64) Shown {
    Rank ranks;
    SegmentId segments;
  };

  const SegmentPart* find(GlobalPtr<std::byte> at) const noexcept {
    if (at.rank() >= shown_->ranks || at.segment() >= shown_->segments) return nullptr;
    return records_[at.segment()].part(at.rank());
  }
  static std::uint32_t shift_of(Rank ranks) noexcept;
  static std::uint32_t affordable(std::uint32_t capacity, std::uint32_t shift) noexcept;
  static std::size_t start_of(std::uint32_t shift) noexcept;
  static std::size_t bytes_of_rows(std::uint32_t rows, std::uint32_t shift) noexcept;
  static WipedMemory reserve(std::uint32_t& capacity, std::uint32_t shift);
  void make_rows(std::uint32_t rows);
  void close(SegmentId id, Rank rank) noexcept;
  Status refusal(SegmentId id) const noexcept;

  std::uint32_t shift_;
  std::uint32_t capacity_;
  WipedMemory pages_;
  Shown* shown_;
  // A row for each segment: a window for each rank, then as many for values. A window of zeroes is closed.
  aqueduct::detail::Window* windows_;
  aqueduct::detail::Window* value_windows_;
  std::vector<SegmentRecord> records_;
};

}  // namespace aqueduct::core
