// What inline calls read, and where it lies.

#include "compat/gasnet/state.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include <sys/mman.h>

namespace aqueduct::gasnet {

namespace {

constexpr std::size_t taken_by(std::size_t bytes) noexcept {
  constexpr std::size_t kAlign = alignof(std::max_align_t);
  return (bytes + kAlign - 1) / kAlign * kAlign;
}
constexpr std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
}

}  // namespace

void set_shift(aqg_shift& shift, const aqg_shift& to) noexcept {
  __atomic_store_n(&shift.few, to.few, __ATOMIC_RELAXED);
  __atomic_store_n(&shift.many, to.many, __ATOMIC_RELAXED);
  __atomic_store_n(&shift.word, to.word, __ATOMIC_RELAXED);
}

void look_for_a_loss() noexcept {
  static thread_local Rank next = 0;
  State& s = state();
  if (++next >= s.ep.ranks()) next = 0;
  aqg_shift& shift = s.shifts[next];
  if (__atomic_load_n(&shift.many, __ATOMIC_RELAXED) != 0 && s.ep.is_lost(next)) set_shift(shift, {});
}

void* at_end_of_page(std::size_t bytes) {
  const std::size_t taken = taken_by(bytes);
  const std::size_t all = whole_pages(taken);
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

aqg_shift* make_shifts(Rank ranks) {
  const std::size_t taken = taken_by(ranks * sizeof(aqg_shift));
  const std::size_t all = whole_pages(taken);
  void* const pages = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  // Without it (Linux before 4.14) a forked child reaches the memory of its parent's job, as it does with GASNet.
  static_cast<void>(::madvise(pages, all, MADV_WIPEONFORK));
  return reinterpret_cast<aqg_shift*>(static_cast<std::byte*>(pages) + all - taken);
}

aqg_shift shift_of(const aqg_place& place, const Bound& bound, bool is_own) noexcept {
  const auto shift_in = [&](const aq_window* window) -> std::uintptr_t {
    const void* const here = aq_find_in_window(window, bound.address - place.base, bound.bytes);
    const std::uintptr_t shift = here != nullptr ? reinterpret_cast<std::uintptr_t>(here) - bound.address : 0;
    return here != nullptr ? shift + 1 : 0;
  };
  const std::uintptr_t shift = shift_in(place.window);
  return {shift, is_own ? 0 : shift, shift_in(place.value_window)};
}

}  // namespace aqueduct::gasnet
