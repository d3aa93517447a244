#pragma once

#include "core/conduit.hpp"

#include <map>

namespace aqueduct::conduits::sim {

/// The segments that a rank has registered. The network's lock guards it.
class RegisteredMemory {
 public:
  void add(SegmentId id, core::MutableBytes memory) { registered_[id] = memory; }
  void remove(SegmentId id) noexcept { registered_.erase(id); }
  void clear() noexcept { registered_.clear(); }

  /// A range of a segment. Errors: peer_lost (not, or no longer, registered), out_of_range.
  Result<core::MutableBytes> find(SegmentId id, std::uint64_t offset, std::uint64_t bytes) const noexcept {
    const auto found = registered_.find(id);
    if (found == registered_.end()) return ErrorCode::peer_lost;
    const core::MutableBytes memory = found->second;
    if (offset > memory.size() || bytes > memory.size() - offset) return ErrorCode::out_of_range;
    return memory.subspan(offset, bytes);
  }

 private:
  std::map<SegmentId, core::MutableBytes> registered_;
};

}  // namespace aqueduct::conduits::sim
