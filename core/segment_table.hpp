#pragma once

#include <aqueduct/endpoint.hpp>

#include "core/conduit.hpp"
#include "core/wiped_memory.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace aqueduct::core {

/// How one rank's part of a segment is reached from here. Keys are used at the first access.
struct Part {
  enum class Reach : std::uint8_t {
    unknown,    ///< nothing tried yet
    mapped,     ///< see the window
    native,     ///< the conduit's own operations, with `key`
    reference,  ///< packets
  };
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;           ///< its handle, if `has_key`
  NativeRma* rma = nullptr;        ///< whose handle that is
  std::uint64_t max_transfer = 0;  ///< its conduit's
  Reach reach = Reach::unknown;
  std::uint8_t phase = 0;  ///< its owner's address of it, modulo 16: what atomics are aligned to
  bool asked_for_key = false;
  bool has_key = false;            ///< imported; also of mapped memory, for the network's atomics
  std::vector<std::byte> map_key;  ///< empty: cannot be mapped
  std::vector<std::byte> rma_key;  ///< empty: not registered
  std::unique_ptr<Part> far;  ///< a neighbour's, or my own, as the far conduit reaches it: for its atomics

  /// Whether an atomic of so many bytes is aligned there, by its owner's address: the same rule on every rank.
  bool aligned(std::uint64_t offset, std::size_t bytes) const noexcept {
    return (phase + offset) % bytes == 0;
  }
};

/// A segment as one endpoint knows it.
struct SegmentRecord {
  std::span<std::byte> mine;
  std::vector<Part> parts;  // [rank]
};

/// All segments of an endpoint. The arrays that the inline code reads are here and never move.
///
/// In a forked child it has no segment and no window: see `in_child`.
class SegmentTable {
 public:
  SegmentTable(Rank ranks, std::uint32_t capacity);

  std::uint32_t capacity() const noexcept { return capacity_; }
  SegmentId size() const noexcept { return shown_->segments; }
  /// Whether this is a forked child's copy, in which nothing is reached.
  bool in_child() const noexcept { return shown_->ranks == 0; }
  SegmentRecord& operator[](SegmentId id) noexcept { return records_[id]; }
  const SegmentRecord& operator[](SegmentId id) const noexcept { return records_[id]; }

  /// Adds the next segment. Requires: size() < capacity().
  SegmentId add(std::span<std::byte> mine, std::vector<Part> parts);
  /// Takes the last one back: another rank could not add it, and nobody has used it.
  void take_back() noexcept;
  /// The part that `at` names, or why `bytes` bytes there are nothing: out_of_range, or invalid_argument in a child.
  Result<Part*> check(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept;
  /// The part that `at` names if the conduit's own operations are known to reach `bytes` bytes there, else null.
  const Part* native(GlobalPtr<std::byte> at, std::uint64_t bytes) const noexcept {
    if (!there_is(at)) return nullptr;
    const Part& part = records_[at.segment()].parts[at.rank()];
    const bool inside = at.offset() <= part.bytes && bytes <= part.bytes - at.offset();
    return inside && part.reach == Part::Reach::native ? &part : nullptr;
  }
  /// The part that `at` names as that network reaches it, once its key is there, else null.
  const Part* of_network(const NativeRma* network, GlobalPtr<std::byte> at,
                         std::uint64_t bytes) const noexcept {
    if (!there_is(at)) return nullptr;
    const Part& near = records_[at.segment()].parts[at.rank()];
    const Part& part = near.far != nullptr ? *near.far : near;
    const bool inside = at.offset() <= part.bytes && bytes <= part.bytes - at.offset();
    return inside && part.has_key && part.rma == network ? &part : nullptr;
  }
  /// Makes a part reachable by plain instructions; atomics and values read too if `for_values`.
  void set_window(SegmentId id, Rank rank, std::byte* base, std::uint64_t bytes,
                  bool for_values = true) noexcept;
  /// Nothing of that rank is reached any more.
  void forget(Rank rank) noexcept;

  /// Of rank r in segment s: at s * ranks + r.
  const aqueduct::detail::Window* windows() const noexcept { return windows_; }
  /// The same of what atomics and values read, see Endpoint::mapped_for_value.
  const aqueduct::detail::Window* value_windows() const noexcept { return value_windows_; }
  const std::span<std::byte>* mine() const noexcept { return mine_.data(); }

 private:
  /// The head of the wiped pages.
  struct alignas(64) Shown {
    Rank ranks;
    SegmentId segments;
  };

  bool there_is(GlobalPtr<std::byte> at) const noexcept {
    return at.rank() < shown_->ranks && at.segment() < shown_->segments;
  }

  std::uint32_t capacity_;
  WipedMemory pages_;
  Shown* shown_;
  aqueduct::detail::Window* windows_;
  aqueduct::detail::Window* value_windows_;
  std::vector<SegmentRecord> records_;
  std::vector<std::span<std::byte>> mine_;
};

}  // namespace aqueduct::core
