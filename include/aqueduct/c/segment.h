#pragma once

// The C face of aqueduct/segment.hpp.

#include <aqueduct/c/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Memory that the members of a team may read and write: a handle.
typedef struct aq_segment aq_segment;
/// Memory of this rank that is not part of a segment yet.
typedef struct aq_segment_memory aq_segment_memory;

/// Allocates a segment of zeroed memory: collective over the team. Each member chooses the size of its part. If one
/// member has no memory, not even for a handle, all get AQ_NO_MEMORY.
aq_status aq_segment_create(aq_team* team, size_t bytes, aq_segment** made) AQ_MUST_USE;
/// The same with the caller's own memory as this rank's part. It must live until the release.
/// All members get AQ_INVALID_ARGUMENT if one gives NULL with bytes > 0, or more bytes than there are addresses.
aq_status aq_segment_attach(aq_team* team, void* memory, size_t bytes, aq_segment** made) AQ_MUST_USE;
/// The two halves of a create: a local one, after which the address is known, and a collective one.
///
/// aq_segment_publish takes `memory` over, whatever it returns. If this rank has none, `memory` is null and all members
/// get AQ_NO_MEMORY. aq_segment_memory_free frees memory that was not published; `memory` may be null.
aq_status aq_segment_allocate(aq_endpoint* ep, size_t bytes, aq_segment_memory** memory) AQ_MUST_USE;
void* aq_segment_memory_bytes(const aq_segment_memory* memory, size_t* bytes);
aq_status aq_segment_publish(aq_team* team, aq_segment_memory* memory, aq_segment** made) AQ_MUST_USE;
void aq_segment_memory_free(aq_segment_memory* memory);

/// Ends the segment on all members: collective over its team. The handle must still be destroyed. AQ_CLOSED after the end
/// of the job.
aq_status aq_segment_release(aq_segment* segment) AQ_MUST_USE;
/// Frees the handle; the memory stays accessible until the release or the end of the job. `segment` may be null.
void aq_segment_destroy(aq_segment* segment);

/// The number for aq_ptr, this rank's part, and the members.
uint32_t aq_segment_id(const aq_segment* segment);
void* aq_segment_mine(const aq_segment* segment, size_t* bytes);
uint32_t aq_segment_members(const aq_segment* segment);
uint32_t aq_segment_rank_of(const aq_segment* segment, uint32_t member);

/// An estimate of how much further segments may have: of this rank if all of the host ask for as much, and of the host.
void aq_segment_most_bytes(aq_endpoint* ep, uint64_t* rank_bytes, uint64_t* host_bytes);

#ifdef __cplusplus
}
#endif
