// What clients have compiled in. Who changes a number here raises AQG_LAYOUT, by which a client that was compiled before is refused.

#include <aqueduct/config.hpp>
#include <aqueduct/version.hpp>

#include "compat/gasnet/state.hpp"

#include <gasnet_ratomic.h>
#include <gasnetex.h>

#include <cstddef>
#include <cstdio>

static_assert(AQG_LAYOUT == 1);
static_assert(offsetof(aqg_place, base) == 0 && offsetof(aqg_place, segment) == 8 &&
              offsetof(aqg_place, window) == 16 && offsetof(aqg_place, value_window) == 24 &&
              sizeof(aqg_place) == 32);
static_assert(offsetof(aqg_shift, few) == 0 && offsetof(aqg_shift, many) == 8 &&
              offsetof(aqg_shift, word) == 16 && sizeof(aqg_shift) == 24);
static_assert(offsetof(aqg_team, ep) == 0 && offsetof(aqg_team, shifts) == 8 &&
              offsetof(aqg_team, places) == 16 && offsetof(aqg_team, ranks) == 24 &&
              offsetof(aqg_team, rank) == 32 && offsetof(aqg_team, size) == 36);
static_assert(offsetof(aqg_domain, tm) == 0 && offsetof(aqg_domain, type) == 8 &&
              offsetof(aqg_domain, operations) == 12 && offsetof(aqg_domain, on_mapped) == 16 &&
              sizeof(aqg_domain) == 16 + 32 * sizeof(void*));

extern "C" int aqg_of_layout(std::uint32_t layer, std::uint32_t below) try {
  if (layer != AQG_LAYOUT) {
    std::fprintf(stderr,
                 "*** GASNet: this program was compiled for layout %u of the layer's inline functions, and "
                 "the library "
                 "has layout %u: compile it again with the headers of this library\n",
                 layer, AQG_LAYOUT);
    return GASNET_ERR_RESOURCE;
  }
  if (below == aqueduct::kLayout) return GASNET_OK;
  return aqueduct::check_layout(below, aqueduct::Config::from_environment()) ? GASNET_OK
                                                                             : GASNET_ERR_RESOURCE;
} catch (...) {
  return GASNET_ERR_RESOURCE;
}
