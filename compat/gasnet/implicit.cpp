// Operations with implicit completion, and access regions.

#include "compat/gasnet/composites.hpp"
#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"

#include <utility>

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t) {
  check_context("gex_NBI_Test");
  check_no_region("gex_NBI_Test");
  Thread& mine = thread();
  const bool done = ((event_mask & GEX_EC_PUT) == 0 || mine.puts.done()) &&
                    ((event_mask & GEX_EC_GET) == 0 || mine.gets.done()) &&
                    ((event_mask & GEX_EC_RMW) == 0 || mine.atomics.done()) &&
                    ((event_mask & GEX_EC_AM) == 0 || mine.messages.done()) &&
                    ((event_mask & GEX_EC_LC) == 0 || mine.puts.source_done());
  return done ? GASNET_OK : GASNET_ERR_NOT_READY;
}
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t) {
  check_context("gex_NBI_Wait");
  check_no_region("gex_NBI_Wait");
  Thread& mine = thread();
  Status status;
  const auto wait = [&](gex_EC_t category, Group& group) {
    if ((event_mask & category) == 0) return;
    if (const Status ended = group.wait(); !ended) status = ended;
  };
  wait(GEX_EC_PUT, mine.puts);
  wait(GEX_EC_GET, mine.gets);
  wait(GEX_EC_RMW, mine.atomics);
  wait(GEX_EC_AM, mine.messages);
  if (status && (event_mask & GEX_EC_LC) != 0) status = mine.puts.wait_source();
  if (!status) fail("gex_NBI_Wait", nullptr, status);
}
void gex_NBI_BeginAccessRegion(gex_Flags_t) {
  Thread& mine = thread();
  if (mine.region != nullptr) fail("gex_NBI_BeginAccessRegion", "a region is open; regions do not nest");
  mine.region = take(true);
}
gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t) {
  Thread& mine = thread();
  if (mine.region == nullptr) fail("gex_NBI_EndAccessRegion", "no region is open");
  return as_root(std::exchange(mine.region, nullptr));
}
}
