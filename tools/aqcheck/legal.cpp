#include "tools/aqcheck/legal.hpp"

#include <fmt/format.h>

namespace aqueduct::aqcheck {

using coll::Space;
using coll::Step;

namespace {

/// Of places that are announced, or have been.
const char* illegal_announcement(const coll::Shape& shape, const coll::Needs& needs,
                                 const Step& step) noexcept {
  const auto is_any = [&](Space space) {
    return step.from.space == space || step.with.space == space || step.to.space == space;
  };
  if (!is_any(Space::landed) && !is_any(Space::where) && !is_any(Space::told)) return nullptr;
  if (shape.addresses != coll::Addresses::local) return "announces what all members know";
  const bool put = step.kind == Step::Kind::put;
  const bool lands = step.from.space == Space::landed || step.from.space == Space::where;
  if (step.to.space == Space::landed || step.to.space == Space::where || step.from.space == Space::told)
    return "uses an announced place the wrong way round";
  if (lands && (step.with.space != Space::out || (!put && step.kind != Step::Kind::copy)))
    return "names a place in scratch without the one in the output";
  const std::uint64_t end = step.slot + coll::kAnnouncementBytes;
  if (step.from.space == Space::where &&
      (!put || step.bytes != coll::kAnnouncementBytes || step.runs != 1 || end > needs.temp))
    return "announces no address";
  if (step.to.space == Space::told && (!put || end > needs.scratch)) return "has been told no address";
  return nullptr;
}

}  // namespace

const char* illegal(const coll::Shape& shape, const coll::Needs& needs, Rank position,
                    const Step& step) noexcept {
  const auto beyond = [&](coll::Counter counter) {
    return counter != coll::kNoCounter && counter >= needs.counters;
  };
  if (beyond(step.wait_for) || beyond(step.raise) || beyond(step.done))
    return "names a counter beyond what the algorithm needs";
  if (const char* const problem = illegal_announcement(shape, needs, step)) return problem;
  if (!is_message(step))
    return step.raise != coll::kNoCounter ? "raises a counter of a peer, but has none" : nullptr;
  if (step.peer >= shape.ranks || step.peer == position) return "has no such peer";
  const Space far = step.kind == Step::Kind::get ? step.from.space : step.to.space;
  if (step.kind != Step::Kind::signal && is_user(far) && shape.addresses != coll::Addresses::single)
    return "uses a buffer of a peer whose address is not known";
  if (step.kind != Step::Kind::signal && (far == Space::temp || far == Space::none))
    return "uses memory of a peer that nobody but the peer uses";
  if (step.kind == Step::Kind::put && step.to.space == Space::in) return "writes to an input";
  if (step.kind != Step::Kind::get && (step.raise == coll::kNoCounter || step.add == 0))
    return "tells the peer nothing";
  if (step.kind == Step::Kind::get && step.raise != coll::kNoCounter) return "a get cannot tell the peer";
  return nullptr;
}

std::string overflow_text(std::uint64_t member, std::uint64_t counter, std::uint64_t total) {
  return fmt::format(
      "{} is added in all to counter {} of member {}, and a counter of the engine counts to {}", total,
      counter, member, kMostArrivals);
}

}  // namespace aqueduct::aqcheck
