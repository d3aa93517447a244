#pragma once

#include "core/conduit.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

namespace aqueduct::core {

/// The segments of a rank by address: in which one does a buffer lie? Ended segments cost nothing, whatever their number.
///
/// Segments may overlap, because programs may attach memory twice.
/// Cost: logarithmic in the segments, plus those that begin less than the longest segment before the buffer.
class AddressIndex {
 public:
  /// Throws std::bad_alloc, and nothing has changed. Requires: no entry of `id`.
  void add(SegmentId id, MutableBytes memory) {
    entries_.insert(after(memory.data()), {memory.data(), memory.size(), id});
    longest_ = std::max(longest_, memory.size());
  }
  /// Does nothing if there is no entry of `id`, whose memory this was.
  void remove(SegmentId id, const std::byte* start) noexcept {
    for (auto at = after(start); at != entries_.begin() && std::prev(at)->start == start; --at) {
      if (std::prev(at)->id != id) continue;
      entries_.erase(std::prev(at));
      return;
    }
  }
  /// A segment that contains the whole buffer; nothing if none does.
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
  std::size_t longest_ = 0;     // of all that there ever were
};

}  // namespace aqueduct::core
