#include "tools/aqcheck/legal.hpp"

namespace aqueduct::aqcheck {

using coll::Space;
using coll::Step;

const char* illegal(const coll::Shape& shape, const coll::Needs& needs, Rank position,
                    const Step& step) noexcept {
  const auto beyond = [&](coll::Counter counter) {
    return counter != coll::kNoCounter && counter >= needs.counters;
  };
  if (beyond(step.wait_for) || beyond(step.raise) || beyond(step.done))
    return "names a counter beyond what the algorithm needs";
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

}  // namespace aqueduct::aqcheck
