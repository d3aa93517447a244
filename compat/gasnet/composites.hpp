#pragma once

#include "compat/gasnet/state.hpp"

#include <cstdint>

// Events as the client has them: a pointer whose lowest bits say what it is. An operation without parts is the word of its
// Event; an operation with parts is a Composite. `events.cpp` makes and frees them; the files of calls that test and wait use them.

namespace aqueduct::gasnet {

inline std::uintptr_t bits(gex_Event_t event) noexcept { return reinterpret_cast<std::uintptr_t>(event); }
inline bool is_root(gex_Event_t event) noexcept { return (bits(event) & 7) == 2; }
/// A leaf of an access region that is done when all of it is, and not only its sources.
inline bool is_whole(gex_Event_t event) noexcept { return (bits(event) & 7) == 6; }
inline bool is_leaf(gex_Event_t event) noexcept { return (bits(event) & 7) == 4 || is_whole(event); }
inline gex_Event_t as_whole(Composite* event) noexcept {
  return reinterpret_cast<gex_Event_t>(reinterpret_cast<std::uintptr_t>(event) | 6);
}
inline Composite& composite(gex_Event_t event) noexcept {
  return *reinterpret_cast<Composite*>(bits(event) & ~std::uintptr_t{7});
}

/// For an access region, which has a group; or for an operation and its source.
Composite* take(bool region);
void give_back(Composite& event);

bool is_done(gex_Event_t event) noexcept;
/// Ends an event that is done. A leaf's record remains until its root is ended.
void finish(gex_Event_t event);
/// In checked builds: nothing may wait for an operation that has not begun.
void check_has_begun(const char* call, gex_Event_t event);

template <class Predicate>
void wait_for(const char* call, Predicate predicate) {
  if (const Status status = state().ep.wait_until(predicate); !status) fail(call, nullptr, status);
}

}  // namespace aqueduct::gasnet
