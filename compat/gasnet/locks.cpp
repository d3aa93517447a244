// Handler-safe locks.

#include "compat/gasnet/state.hpp"

#include <algorithm>

#include <pthread.h>

namespace aqueduct::gasnet {

thread_local int locks_held = 0;

namespace {

// The locks that this thread holds, up to eight. A client that takes one of them again gets an error, where it would hang.
constexpr int kNotedLocks = 8;
thread_local const gex_HSL_t* noted_locks[kNotedLocks] = {};
bool holds(const gex_HSL_t* hsl) noexcept {
  return std::find(noted_locks, noted_locks + std::min(locks_held, kNotedLocks), hsl) !=
         noted_locks + std::min(locks_held, kNotedLocks);
}
void took(const gex_HSL_t* hsl) noexcept {
  if (locks_held < kNotedLocks) noted_locks[locks_held] = hsl;
  ++locks_held;
}

}  // namespace
}  // namespace aqueduct::gasnet

using namespace aqueduct::gasnet;

extern "C" {

void gex_HSL_Init(gex_HSL_t* hsl) { pthread_mutex_init(&hsl->mutex, nullptr); }
void gex_HSL_Destroy(gex_HSL_t* hsl) { pthread_mutex_destroy(&hsl->mutex); }
void gex_HSL_Lock(gex_HSL_t* hsl) {
  if (locks_held > 0 && holds(hsl))
    fail("gex_HSL_Lock", "this thread holds the lock already, and would wait for itself for ever");
  pthread_mutex_lock(&hsl->mutex);
  took(hsl);
}
void gex_HSL_Unlock(gex_HSL_t* hsl) {
  if (locks_held == 0) {  // another thread's
#ifdef AQUEDUCT_CHECKED
    fail("gex_HSL_Unlock", "this thread does not hold the lock");
#endif
    pthread_mutex_unlock(&hsl->mutex);
    return;
  }
  --locks_held;
  // Usually the last one that was taken.
  for (int i = std::min(locks_held, kNotedLocks - 1); i >= 0; --i) {
    if (noted_locks[i] != hsl) continue;
    noted_locks[i] = locks_held < kNotedLocks ? noted_locks[locks_held] : nullptr;
    break;
  }
  pthread_mutex_unlock(&hsl->mutex);
}
int gex_HSL_Trylock(gex_HSL_t* hsl) {
  if (pthread_mutex_trylock(&hsl->mutex) != 0) return GASNET_ERR_NOT_READY;
  took(hsl);
  return GASNET_OK;
}
}
