#include "c/convert.hpp"

using namespace aqueduct;

namespace aqueduct::c {
namespace {

Team& team_of(aq_team* team) noexcept { return *reinterpret_cast<Team*>(team); }
const Segment& whole_segment(const aq_segment* segment) noexcept {
  return *reinterpret_cast<const Segment*>(segment);
}

/// Makes a segment. A member without memory for its handle, or without a place for it, takes part all the same, because the others
/// wait for it: then no member gets a segment.
template <class F>
aq_status make_segment(const char* call, aq_team* team, aq_segment** made, F make) noexcept {
  if (lacks(call, {{"team", team}})) return plain(ErrorCode::invalid_argument);
  const ErrorCode without_place = lacks(call, {{"made", made}}) ? ErrorCode::invalid_argument : ErrorCode::ok;
  return guarded([&] {
    HandleMemory<Segment> memory;
    const ErrorCode wrong = memory ? without_place : ErrorCode::no_memory;
    auto segment =
        wrong == ErrorCode::ok ? make() : Segment::publish(team_of(team), Result<SegmentMemory>(wrong));
    if (segment) *made = reinterpret_cast<aq_segment*>(memory.hold(*std::move(segment)));
    return segment.status();
  });
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_segment_create(aq_team* team, size_t bytes, aq_segment** made) {
  return c::make_segment("aq_segment_create", team, made,
                         [&] { return Segment::create(c::team_of(team), bytes); });
}
aq_status aq_segment_attach(aq_team* team, void* memory, size_t bytes, aq_segment** made) {
  return c::make_segment("aq_segment_attach", team, made,
                         [&] { return Segment::attach(c::team_of(team), c::target(memory, bytes)); });
}
aq_status aq_segment_allocate(aq_endpoint* ep, size_t bytes, aq_segment_memory** memory) {
  if (c::lacks("aq_segment_allocate", {{"ep", ep}, {"memory", memory}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::guarded(
      [&] { return c::hand_over([&] { return Segment::allocate(c::whole(ep), bytes); }, memory); });
}
void* aq_segment_memory_bytes(const aq_segment_memory* memory, size_t* bytes) {
  if (c::lacks("aq_segment_memory_bytes", {{"memory", memory}, {"bytes", bytes}})) return nullptr;
  const std::span<std::byte> all = reinterpret_cast<const SegmentMemory*>(memory)->bytes();
  *bytes = all.size();
  return all.data();
}
aq_status aq_segment_publish(aq_team* team, aq_segment_memory* memory, aq_segment** made) {
  const aq_status status = c::make_segment("aq_segment_publish", team, made, [&] {
    auto part = memory != nullptr
                    ? Result<SegmentMemory>(std::move(*reinterpret_cast<SegmentMemory*>(memory)))
                    : Result<SegmentMemory>(ErrorCode::no_memory);
    return Segment::publish(c::team_of(team), std::move(part));
  });
  aq_segment_memory_free(memory);
  return status;
}
void aq_segment_memory_free(aq_segment_memory* memory) { delete reinterpret_cast<SegmentMemory*>(memory); }

aq_status aq_segment_release(aq_segment* segment) {
  if (c::lacks("aq_segment_release", {{"segment", segment}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(reinterpret_cast<Segment*>(segment)->release());
}
void aq_segment_destroy(aq_segment* segment) { delete reinterpret_cast<Segment*>(segment); }

uint32_t aq_segment_id(const aq_segment* segment) {
  if (c::lacks("aq_segment_id", {{"segment", segment}})) return UINT32_MAX;
  return c::whole_segment(segment).id();
}
void* aq_segment_mine(const aq_segment* segment, size_t* bytes) {
  if (c::lacks("aq_segment_mine", {{"segment", segment}, {"bytes", bytes}})) return nullptr;
  const std::span<std::byte> mine = c::whole_segment(segment).mine();
  *bytes = mine.size();
  return mine.data();
}
uint32_t aq_segment_members(const aq_segment* segment) {
  if (c::lacks("aq_segment_members", {{"segment", segment}})) return 0;
  return c::whole_segment(segment).members();
}
uint32_t aq_segment_rank_of(const aq_segment* segment, uint32_t member) {
  if (c::lacks("aq_segment_rank_of", {{"segment", segment}})) return AQ_NO_RANK;
  return c::whole_segment(segment).rank_of(member);
}

void aq_segment_most_bytes(aq_endpoint* ep, uint64_t* rank_bytes, uint64_t* host_bytes) {
  if (c::lacks("aq_segment_most_bytes", {{"ep", ep}, {"rank_bytes", rank_bytes}, {"host_bytes", host_bytes}}))
    return;
  const SegmentRoom room = Segment::most_bytes(c::whole(ep));
  *rank_bytes = room.rank;
  *host_bytes = room.host;
}
