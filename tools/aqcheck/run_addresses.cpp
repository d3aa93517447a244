// Addresses that members tell each other in a run.

#include "tools/aqcheck/run.hpp"

#include <fmt/format.h>

#include <vector>

namespace aqueduct::aqcheck {

using coll::Place;
using coll::Space;
using coll::Step;

/// A member writes down an address before it is put.
bool Run::announce(Lane& lane, Step& step, const Event& event) {
  const bool reached = case_->is_reached(lane.position);
  const Place place = reached ? step.with : Place{Space::scratch, step.from.offset, 0};
  const std::uint64_t pieces = coll::kAnnouncementBytes / unit_;
  std::vector<Value> values;
  for (std::uint64_t i = 0; i < pieces; ++i)
    values.push_back(static_cast<Value>(kFirstAddress + addresses_.size() * pieces + i));
  addresses_.push_back({lane.position, place});
  step.from = {Space::temp, step.slot, 0};
  Step written = step;
  written.bytes = coll::kAnnouncementBytes;
  return write(lane, lane.position, step.from, written, event, values);
}

/// Where a peer has said that bytes for it are to go.
bool Run::find_told(Lane& lane, Step& step, const Event& event) {
  const std::uint64_t pieces = coll::kAnnouncementBytes / unit_;
  Step reading;
  reading.bytes = coll::kAnnouncementBytes;
  std::vector<Value> values;
  if (!read(lane, lane.position, {Space::scratch, step.slot, 0}, reading, event, values)) return false;
  const auto no_address = [&](const char* text) {
    return fail(fmt::format("{} goes to where {}", name(lane, lane.next), text));
  };
  if (values.front() < kFirstAddress) return no_address("no address is");
  const Value first = values.front() - kFirstAddress;
  for (std::uint64_t i = 0; i < pieces; ++i) {
    if (first % pieces != 0 || values[i] != kFirstAddress + first + i) return no_address("no address is");
  }
  const Address& found = addresses_[first / pieces];
  if (found.position != step.peer) return no_address("another member has said");
  step.to = {found.place.space, found.place.offset + step.to.offset, step.to.pitch};
  return true;
}

/// Names the spaces that a step really uses. What is where it is to be is not copied.
bool Run::resolve(Lane& lane, Step& step, const Event& announces, const Event& sends) {
  if (step.from.space == Space::where) return announce(lane, step, announces);
  if (step.from.space == Space::landed) {
    if (!case_->is_reached(lane.position))
      step.from.space = Space::scratch;
    else if (step.kind == Step::Kind::copy)
      step = {};
    else
      step.from = step.with;
  }
  return step.to.space != Space::told || find_told(lane, step, sends);
}

}  // namespace aqueduct::aqcheck
