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

/// This rank's part of a segment. It has its address before any other rank knows of it.
struct LocalPart {
  std::span<std::byte> memory;
  bool attached = false;  ///< the program's own memory
};

// A segment is made in two halves: each rank allocates its part, and a team publishes the parts of its members.

/// The first half, which is local: allocates zeroed memory, which neighbours can map if a conduit maps memory. Logs the
/// reason of a failure.
Result<LocalPart> allocate_part(EndpointParts& parts, std::size_t bytes);
/// The conduit that allocates memory for neighbours to map; null if none does.
core::CrossMap* mapper_of(aqueduct::detail::EndpointState& state) noexcept;
/// Frees the memory that `allocate_part` returned. Requires: no key of it is in use.
void free_part(EndpointParts& parts, const LocalPart& part) noexcept;

/// The second half: collective over the team. Each member sends the others its part, or the error for which it has
/// none. Either all members get the segment or none does. After a failure the part is freed. Only if a member that
/// learns of a loss later may use the part, it is kept until the job ends.
/// Errors: refused, no_memory, peer_lost, in_handler, and the error that a member passes as `mine`.
Result<SegmentId> publish_part(EndpointParts& parts, aqueduct::detail::TeamState& team,
                               const Result<LocalPart>& mine) noexcept;

/// Ends a segment: collective over its team. Errors: as Segment::release.
Status release_segment(EndpointParts& parts, SegmentId id) noexcept;

/// What the other members learn of this rank's part of a new segment: its size, address and keys.
struct PartOffer {
  std::span<std::byte> memory;
  Blob map_key;
  Blob near_key;
  Blob far_key;

  /// Writes the size, the address and the keys. `near`, `far`: include the keys of the near conduit, of the far conduit.
  void write(BlobWriter& out, bool near, bool far) const;
};

/// Registers this rank's part with the conduits under the segment's number. Logs the reason of a failure.
Result<PartOffer> offer_part(EndpointParts& parts, SegmentId id, const LocalPart& part);
/// Unregisters the part: another rank has none, or the segment ends. The memory stays.
void withdraw_part(EndpointParts& parts, SegmentId id) noexcept;
/// Reads a rank's offer: how this rank reaches that rank's part.
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
