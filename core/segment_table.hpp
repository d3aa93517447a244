#pragma once

#include <aqueduct/endpoint.hpp>

#include "core/conduit.hpp"

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
  std::uint64_t key = 0;  ///< NativeRma's handle, if `has_key`
  Reach reach = Reach::unknown;
  bool asked_for_key = false;
  bool has_key = false;            ///< imported; also of mapped memory, for the network's atomics
  std::vector<std::byte> map_key;  ///< empty: cannot be mapped
  std::vector<std::byte> rma_key;  ///< empty: not registered
};

/// A segment as one endpoint knows it.
struct SegmentRecord {
  std::span<std::byte> mine;
  std::unique_ptr<aqueduct::detail::Window[]> windows;  // [rank]
  std::vector<Part> parts;                              // [rank]
};

/// All segments of an endpoint. The arrays that the inline code reads are here and never move.
class SegmentTable {
 public:
  SegmentTable(Rank ranks, std::uint32_t capacity);

  Rank ranks() const noexcept { return ranks_; }
  std::uint32_t capacity() const noexcept { return capacity_; }
  SegmentId size() const noexcept { return static_cast<SegmentId>(records_.size()); }
  SegmentRecord& operator[](SegmentId id) noexcept { return records_[id]; }
  const SegmentRecord& operator[](SegmentId id) const noexcept { return records_[id]; }

  /// Adds the next segment. Requires: size() < capacity().
  SegmentId add(std::span<std::byte> mine, std::vector<Part> parts);
  /// The part that `at` names, or why `bytes` bytes there are nothing.
  Result<Part*> check(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept;
  /// Makes a part reachable by plain instructions.
  void set_window(SegmentId id, Rank rank, std::byte* base, std::uint64_t bytes) noexcept;
  /// Nothing of that rank is reached any more.
  void forget(Rank rank) noexcept;

  aqueduct::detail::Window* const* windows() const noexcept { return windows_.data(); }
  const std::span<std::byte>* mine() const noexcept { return mine_.data(); }

 private:
  Rank ranks_;
  std::uint32_t capacity_;
  std::vector<SegmentRecord> records_;
  std::vector<aqueduct::detail::Window*> windows_;
  std::vector<std::span<std::byte>> mine_;
};

}  // namespace aqueduct::core
