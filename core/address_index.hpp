#pragma once

#include "core/conduit.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

namespace aqueduct::core {

/// Finds the segment of this rank that contains a buffer. Only segments that have not ended take memory and time.
///
/// Segments may overlap, because a program may attach the same memory twice.
/// Cost of `find`: logarithmic in the number of segments, plus a step for each segment that starts before the buffer by
///                 less than the length of the longest segment.
class AddressIndex {
 public:
  /// Adds a segment. If it throws std::bad_alloc, nothing has changed. Requires: there is no entry of `id`.
  void add(SegmentId id, MutableBytes memory) {
    entries_.insert(after(memory.data()), {memory.data(), memory.size(), id});
    longest_ = std::max(longest_, memory.size());
  }
  /// Removes segment `id`, whose memory starts at `start`. Does nothing if there is no such entry.
  void remove(SegmentId id, const std::byte* start) noexcept {
    for (auto at = after(start); at != entries_.begin() && std::prev(at)->start == start; --at) {
      if (std::prev(at)->id != id) continue;
      entries_.erase(std::prev(at));
      return;
    }
  }
  /// Returns a segment that contains the whole buffer, or nothing if none does.
  std::optional<SegmentId> find(Bytes buffer) const noexcept {
    for (auto at = after(buffer.data()); at != entries_.begin();) {
      const Entry& entry = *--at;
      const auto offset = static_cast<std::size_t>(buffer.data() - entry.start);
      if (offset > longest_) return std::nullopt;
      if (offset <= entry.bytes && buffer.size() <= entry.bytes - offset) return entry.id;
    }
    return std::nullopt;
  }

 private:
  struct Entry {
    const std::byte* start;
    std::size_t bytes;
    SegmentId id;
  };

  /// The first entry that begins after an address.
  std::vector<Entry>::const_iterator after(const std::byte* address) const noexcept {
    return std::upper_bound(entries_.begin(), entries_.end(), address,
                            [](const std::byte* wanted, const Entry& entry) { return wanted < entry.start; });
  }

  std::vector<Entry> entries_;  // by rising start
  std::size_t longest_ = 0;     // length of the longest segment so far, ended ones included
};

}  // namespace aqueduct::core
