#include "c/convert.hpp"

using namespace aqueduct;

namespace aqueduct::c {
namespace {

Team& team_of(aq_team* team) noexcept { return *reinterpret_cast<Team*>(team); }
const Segment& whole_segment(const aq_segment* segment) noexcept {
  return *reinterpret_cast<const Segment*>(segment);
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_segment_create(aq_team* team, size_t bytes, aq_segment** made) {
  return c::guarded([&] { return c::hand_over(Segment::create(c::team_of(team), bytes), made); });
}
aq_status aq_segment_attach(aq_team* team, void* memory, size_t bytes, aq_segment** made) {
  return c::guarded(
      [&] { return c::hand_over(Segment::attach(c::team_of(team), c::target(memory, bytes)), made); });
}
aq_status aq_segment_allocate(aq_endpoint* ep, size_t bytes, aq_segment_memory** memory) {
  return c::guarded([&] { return c::hand_over(Segment::allocate(c::whole(ep), bytes), memory); });
}
void* aq_segment_memory_bytes(const aq_segment_memory* memory, size_t* bytes) {
  const std::span<std::byte> all = reinterpret_cast<const SegmentMemory*>(memory)->bytes();
  *bytes = all.size();
  return all.data();
}
aq_status aq_segment_publish(aq_team* team, aq_segment_memory* memory, aq_segment** made) {
  const aq_status status = c::guarded([&] {
    auto part = memory != nullptr
                    ? Result<SegmentMemory>(std::move(*reinterpret_cast<SegmentMemory*>(memory)))
                    : Result<SegmentMemory>(ErrorCode::no_memory);
    return c::hand_over(Segment::publish(c::team_of(team), std::move(part)), made);
  });
  aq_segment_memory_free(memory);
  return status;
}
void aq_segment_memory_free(aq_segment_memory* memory) { delete reinterpret_cast<SegmentMemory*>(memory); }

aq_status aq_segment_release(aq_segment* segment) {
  return c::plain(reinterpret_cast<Segment*>(segment)->release());
}
void aq_segment_destroy(aq_segment* segment) { delete reinterpret_cast<Segment*>(segment); }

uint32_t aq_segment_id(const aq_segment* segment) { return c::whole_segment(segment).id(); }
void* aq_segment_mine(const aq_segment* segment, size_t* bytes) {
  const std::span<std::byte> mine = c::whole_segment(segment).mine();
  *bytes = mine.size();
  return mine.data();
}
uint32_t aq_segment_members(const aq_segment* segment) { return c::whole_segment(segment).members(); }
uint32_t aq_segment_rank_of(const aq_segment* segment, uint32_t member) {
  return c::whole_segment(segment).rank_of(member);
}

void aq_segment_most_bytes(aq_endpoint* ep, uint64_t* rank_bytes, uint64_t* host_bytes) {
  const SegmentRoom room = Segment::most_bytes(c::whole(ep));
  *rank_bytes = room.rank;
  *host_bytes = room.host;
}
