// Arrays of events: one or all of them are tested or waited for.

#include "compat/gasnet/composites.hpp"
#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"

#include <cstddef>

namespace aqueduct::gasnet {
namespace {

/// Ends those events of an array that are done, and sets them to GEX_EVENT_INVALID. Leaves come before their roots: a root
/// takes its leaves with it.
struct Sweep {
  std::size_t ended = 0;
  std::size_t left = 0;
};
/// Transfers on mapped memory are done when they return: arrays of their events have nothing to end, and may be long.
bool all_are_invalid(const gex_Event_t* events, std::size_t count) noexcept {
  for (; count >= 4; count -= 4, events += 4) {
    if (events[0] != GEX_EVENT_INVALID || events[1] != GEX_EVENT_INVALID || events[2] != GEX_EVENT_INVALID ||
        events[3] != GEX_EVENT_INVALID)
      return false;
  }
  for (; count != 0; --count, ++events) {
    if (*events != GEX_EVENT_INVALID) return false;
  }
  return true;
}
Sweep sweep(gex_Event_t* events, std::size_t count) {
  Sweep result;
  if (all_are_invalid(events, count)) return result;
  for (std::size_t i = 0; i < count; ++i) check_has_begun("gex_Event_Test or Wait of an array", events[i]);
  bool has_leaves = false;  // that are not done
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_leaf(events[i])) continue;
    if (is_done(events[i])) {
      finish(events[i]);
      events[i] = GEX_EVENT_INVALID;
      ++result.ended;
    } else {
      has_leaves = true;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (events[i] == GEX_EVENT_INVALID || is_leaf(events[i]) || !is_done(events[i])) continue;
    // A root looks for its leaf only where that can be: arrays may be long.
    if (has_leaves && is_root(events[i]) &&
        (composite(events[i]).group != nullptr || composite(events[i]).leaf.load() != nullptr)) {
      for (std::size_t j = 0; j < count; ++j) {
        if (is_leaf(events[j]) && &composite(events[j]) == &composite(events[i]))
          events[j] = GEX_EVENT_INVALID;
      }
    }
    finish(events[i]);
    events[i] = GEX_EVENT_INVALID;
    ++result.ended;
  }
  for (std::size_t i = 0; i < count; ++i) result.left += events[i] != GEX_EVENT_INVALID ? 1 : 0;
  return result;
}

}  // namespace
}  // namespace aqueduct::gasnet

using namespace aqueduct::gasnet;

extern "C" {

int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  check_context("gex_Event_TestSome");
  const Sweep swept = sweep(pevent, numevents);
  return swept.ended != 0 || swept.left == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}
int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  check_context("gex_Event_TestAll");
  return sweep(pevent, numevents).left == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}
void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  check_context("gex_Event_WaitSome");
  Sweep swept = sweep(pevent, numevents);
  if (swept.ended != 0 || swept.left == 0) return;
  wait_for("gex_Event_WaitSome", [&] {
    for (std::size_t i = 0; i < numevents; ++i) {
      if (pevent[i] != GEX_EVENT_INVALID && is_done(pevent[i])) return true;
    }
    return false;
  });
  sweep(pevent, numevents);
}
void gex_Event_WaitAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  check_context("gex_Event_WaitAll");
  if (sweep(pevent, numevents).left == 0) return;
  std::size_t next = 0;  // those before it are done
  wait_for("gex_Event_WaitAll", [&] {
    while (next < numevents && is_done(pevent[next])) ++next;
    return next == numevents;
  });
  sweep(pevent, numevents);
}
}
