// What inline calls read, and where it lies.

#include "compat/gasnet/state.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace aqueduct::gasnet {

void* at_end_of_page(std::size_t bytes) {
  constexpr std::size_t kAlign = alignof(std::max_align_t);
  const std::size_t taken = (bytes + kAlign - 1) / kAlign * kAlign;
  const std::size_t all = (taken + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
  auto* const pages = static_cast<std::byte*>(std::aligned_alloc(GASNET_PAGESIZE, all));
  if (pages == nullptr) throw std::bad_alloc();
  std::memset(pages, 0, all);
  return pages + all - taken;
}

aqg_place* make_places(Rank ranks) {
  auto* const places = static_cast<aqg_place*>(at_end_of_page(ranks * sizeof(aqg_place)));
  std::uninitialized_fill_n(places, ranks, kNoPlace);
  return places;
}

}  // namespace aqueduct::gasnet
