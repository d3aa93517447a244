// Threads of the client: each has a record of its own, for its operations with implicit completion.

#include "compat/gasnet/composites.hpp"
#include "compat/gasnet/state.hpp"

#include <mutex>
#include <utility>

#include <pthread.h>

namespace aqueduct::gasnet {
namespace {

thread_local Thread* here = nullptr;

/// Threads that have ended leave their groups to later ones: operations may be in flight in them.
struct Ended {
  std::mutex mutex;
  Thread* threads = nullptr;  ///< linked by next_ended
};
Ended& ended() {
  static Ended* const all = new Ended;  // threads may end after main has returned
  return *all;
}
void leave(void* thread);
pthread_key_t thread_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    if (pthread_key_create(&made, leave) != 0)
      fail("a thread's first call", "the process has no more thread keys");
    return made;
  }();
  return key;
}

Thread& begin_thread() {
  {
    Ended& all = ended();
    const std::lock_guard lock(all.mutex);
    here = all.threads;
    if (here != nullptr) all.threads = here->next_ended;
  }
  if (here == nullptr) here = new Thread(state().ep);
  pthread_setspecific(thread_key(), here);
  return *here;
}

/// The end of a thread. Destructors of the client's may call this layer too, so the record is given away in the last round.
void leave(void* thread) {
  auto* const ends = static_cast<Thread*>(thread);
  if (++ends->rounds_at_end < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(thread_key(), thread);
    return;
  }
  here = nullptr;
  ends->rounds_at_end = 0;
  ends->after_pieces = {};
  if (Composite* const open = std::exchange(ends->region, nullptr))
    give_back(*open);  // the next region waits for what is in flight in it
  Ended& all = ended();
  const std::lock_guard lock(all.mutex);
  ends->next_ended = std::exchange(all.threads, ends);
}

}  // namespace

Thread& thread() { return here != nullptr ? *here : begin_thread(); }

bool in_handler() { return state().ep.in_handler() || thread().in_loopback != 0; }

Group* group_of(Thread& of, Group& group) noexcept {
  return of.region != nullptr ? of.region->group : &group;
}

}  // namespace aqueduct::gasnet
