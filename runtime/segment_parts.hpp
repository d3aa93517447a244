#pragma once

#include "bootstrap/blob.hpp"
#include "core/endpoint_state.hpp"
#include "core/segment_table.hpp"

#include <span>
#include <vector>

namespace aqueduct::detail {
struct TeamState;
}

namespace aqueduct::runtime {

using bootstrap::Blob;
using bootstrap::BlobReader;
using bootstrap::BlobWriter;

struct EndpointParts;

/// Memory of a segment that no conduit allocates: ordinary pages.
class PlainMemory {
 public:
  static Result<PlainMemory> create(std::size_t bytes);
  PlainMemory(PlainMemory&& other) noexcept;
  PlainMemory& operator=(PlainMemory&& other) noexcept;
  ~PlainMemory();
  std::span<std::byte> span() const noexcept { return span_; }

 private:
  explicit PlainMemory(std::span<std::byte> span) noexcept : span_(span) {}
  std::span<std::byte> span_;
};

/// This rank's part of a segment, which has its address before any other rank knows of it.
struct LocalPart {
  std::span<std::byte> memory;
  bool attached = false;  ///< memory of the program's own
};

// A segment is made in two halves: each rank allocates its part, and a team publishes the parts of its members.

/// The first half, which is local: zeroed memory that neighbours can map, where a conduit maps. Logs what is wrong.
Result<LocalPart> allocate_part(EndpointParts& parts, std::size_t bytes);
/// Gives back what `allocate_part` gave. Requires: no key of it is in use.
void free_part(EndpointParts& parts, const LocalPart& part) noexcept;

/// The second half: collective over the team. Each member tells the others of its part, or why it has none; all get the
/// segment, or none does. After a failure the part is given back, or kept until the job ends if a member that hears of a
/// loss later may use it.
/// Errors: refused, no_memory, peer_lost, in_handler, and whatever a member has for its part.
Result<SegmentId> publish_part(EndpointParts& parts, aqueduct::detail::TeamState& team,
                               const Result<LocalPart>& mine) noexcept;

/// Ends a segment: collective over its team. Errors: as Segment::release.
Status release_segment(EndpointParts& parts, SegmentId id) noexcept;

/// This rank's part of a new segment, as the others will learn of it.
struct PartOffer {
  std::span<std::byte> memory;
  Blob map_key;
  Blob near_key;
  Blob far_key;

  /// With what the ranks that the near conduit serves need, or those of the far one, or both.
  void write(BlobWriter& out, bool near, bool far) const;
};

/// Makes the conduits know this rank's part under the segment's number. Logs what is wrong.
Result<PartOffer> offer_part(EndpointParts& parts, SegmentId id, const LocalPart& part);
/// Takes an offer back: another rank could not make one, or the segment ends. The memory stays.
void withdraw_part(EndpointParts& parts, SegmentId id) noexcept;
/// What another rank's offer means here.
core::SegmentPart read_part(aqueduct::detail::EndpointState& state, Rank rank, BlobReader& in);

/// What an endpoint knows of a new segment: the parts of `first` and the ranks after it.
struct KnownParts {
  Rank first = 0;
  std::vector<core::SegmentPart> parts;
  std::uint64_t team = 0;
};
/// Adds a segment whose parts are known. My own part is mapped at once. Throws std::bad_alloc.
SegmentId add_segment(aqueduct::detail::EndpointState& state, const LocalPart& mine, KnownParts known);

}  // namespace aqueduct::runtime
