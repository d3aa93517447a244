// Events, implicit operations by thread, polling and waiting.

#include "compat/gasnet/state.hpp"
#include "compat/gasnet/user_operators.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include <pthread.h>

namespace aqueduct::gasnet {

thread_local int locks_held = 0;

namespace {

// ------------------------------------------------------------------------------------------- threads

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

// ------------------------------------------------------------------------------------------- events

std::uintptr_t bits(gex_Event_t event) noexcept { return reinterpret_cast<std::uintptr_t>(event); }
bool is_root(gex_Event_t event) noexcept { return (bits(event) & 7) == 2; }
/// A leaf of an access region that is done when all of it is, and not only its sources.
bool is_whole(gex_Event_t event) noexcept { return (bits(event) & 7) == 6; }
bool is_leaf(gex_Event_t event) noexcept { return (bits(event) & 7) == 4 || is_whole(event); }
gex_Event_t as_whole(Composite* event) noexcept {
  return reinterpret_cast<gex_Event_t>(reinterpret_cast<std::uintptr_t>(event) | 6);
}
Composite& composite(gex_Event_t event) noexcept {
  return *reinterpret_cast<Composite*>(bits(event) & ~std::uintptr_t{7});
}

/// Composites that are free, per process.
struct Pool {
  std::mutex mutex;
  Composite* free = nullptr;  ///< linked by next_free
};
Pool& pool(bool regions) {
  static Pool* const all = new Pool[2];
  return all[regions ? 1 : 0];
}
/// For an access region, which has a group; or for an operation and its source.
Composite* take(bool region) {
  Pool& all = pool(region);
  {
    const std::lock_guard lock(all.mutex);
    if (Composite* const made = all.free; made != nullptr) {
      all.free = made->next_free;
      return made;
    }
  }
  auto* const made = new Composite;
  if (region) made->group = new Group(state().ep);
  return made;
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
  if (Composite* const open = std::exchange(ends->region, nullptr)) {
    Pool& all = pool(true);
    const std::lock_guard lock(all.mutex);
    open->next_free = std::exchange(all.free, open);  // the next region waits for what is in flight in it
  }
  Ended& all = ended();
  const std::lock_guard lock(all.mutex);
  ends->next_ended = std::exchange(all.threads, ends);
}

bool word_done(const void* word) noexcept {
  const aq_event event{const_cast<void*>(word)};
  return aq_done(&event);
}
/// Takes the outcome of an Event that is done.
void collect(void* word) {
  if (word == nullptr) return;
  Event event = Event::adopt(word);
  if (const Status status = event.status(); !status) fail("an operation", nullptr, status);
}

bool is_done(gex_Event_t event) noexcept {
  if (event == GEX_EVENT_INVALID) return true;
  if (is_root(event)) {
    const Composite& c = composite(event);
    return c.group != nullptr ? c.group->done() : word_done(c.root);
  }
  if (is_leaf(event)) {
    const Composite& c = composite(event);
    if (c.group != nullptr) return is_whole(event) ? c.group->done() : c.group->source_done();
    return word_done(c.leaf);
  }
  return word_done(event);
}

/// Ends an event that is done. A leaf's record remains until its root is ended.
void finish(gex_Event_t event) {
  if (is_root(event)) {
    Composite& c = composite(event);
    if (c.group != nullptr) {
      if (const Status status = c.group->wait(); !status) fail("an access region", nullptr, status);
    } else {
      // A later operation may have taken the place.
      if (Composite* expected = &c; c.holder != nullptr)
        std::exchange(c.holder, nullptr)->compare_exchange_strong(expected, nullptr);
      collect(c.root.exchange(nullptr));
      // The source is free when the operation is over.
      if (void* const leaf = c.leaf.exchange(nullptr); leaf != nullptr) {
        Event source = Event::adopt(leaf);
        if (!source.done()) static_cast<void>(state().ep.wait(source));
      }
      if (c.gathered != nullptr) combine_gathered(std::exchange(c.gathered, nullptr));
    }
    Pool& all = pool(c.group != nullptr);
    const std::lock_guard lock(all.mutex);
    c.next_free = std::exchange(all.free, &c);
  } else if (is_leaf(event)) {
    Composite& c = composite(event);
    if (c.group == nullptr) collect(c.leaf.exchange(nullptr));
  } else {
    collect(event);
  }
}

void wait_until_done(gex_Event_t event) {
  if (is_root(event) || is_leaf(event)) {
    Composite& c = composite(event);
    if (c.group != nullptr) {
      const Status status = is_root(event) || is_whole(event) ? c.group->wait() : c.group->wait_source();
      if (!status) fail("gex_Event_Wait", nullptr, status);
      return;
    }
  }
  std::atomic<void*>& word = is_root(event) ? composite(event).root : composite(event).leaf;
  Event waited = Event::adopt(word.load());
  const Status status = state().ep.wait(waited);
  word.store(waited.release());
  if (!status) fail("gex_Event_Wait", nullptr, status);
}

/// In checked builds: nothing may wait for an operation that has not begun.
void check_has_begun([[maybe_unused]] const char* call, [[maybe_unused]] gex_Event_t event) {
#ifdef AQUEDUCT_CHECKED
  if (event == GEX_EVENT_NO_OP)
    fail(call, "GEX_EVENT_NO_OP is no event: the operation was refused and has not begun");
#endif
}

/// Ends those events of an array that are done, and sets them to GEX_EVENT_INVALID. Leaves come before their roots: a root
/// takes its leaves with it.
struct Sweep {
  std::size_t ended = 0;
  std::size_t left = 0;
};
Sweep sweep(gex_Event_t* events, std::size_t count) {
  Sweep result;
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

template <class Predicate>
void wait_for(const char* call, Predicate predicate) {
  if (const Status status = state().ep.wait_until(predicate); !status) fail(call, nullptr, status);
}

}  // namespace

Thread& thread() { return here != nullptr ? *here : begin_thread(); }

bool in_handler() { return state().ep.in_handler() || thread().in_loopback != 0; }

void check_may_poll([[maybe_unused]] const char* call) {
#ifdef AQUEDUCT_CHECKED
  if (in_handler()) fail(call, "a handler of messages may not poll");
  if (locks_held != 0) fail(call, "a thread that holds a handler-safe lock may not poll");
#endif
}

Group* group_of(Thread& of, Group& group) noexcept {
  return of.region != nullptr ? of.region->group : &group;
}

gex_Event_t handle(const char* call, Event&& event) {
  if (event.done()) {
    const Status status = event.status();
    if (status) return GEX_EVENT_INVALID;
    if (status.code() == ErrorCode::refused) return GEX_EVENT_NO_OP;
    fail(call, nullptr, status);
  }
  return reinterpret_cast<gex_Event_t>(event.release());
}
gex_Event_t handle(const char* call, Event&& event, Event&& source, gex_Event_t* lc) {
  if (source.done() || event.done()) {
    *lc = GEX_EVENT_INVALID;
    return handle(call, std::move(event));
  }
  Composite* const made = take(false);
  made->root = event.release();
  made->leaf = source.release();
  *lc = as_leaf(made);
  return as_root(made);
}

gex_Event_t handle(const char* call, Event&& event, std::atomic<Composite*>& holder) {
  if (event.done()) return handle(call, std::move(event));
  Composite* const made = take(false);
  made->root = event.release();
  made->holder = &holder;
  holder.store(made, std::memory_order_release);
  return as_root(made);
}
bool composite_done(const Composite& event) noexcept { return word_done(event.root); }

gex_Event_t handle(const char* call, Event&& event, GatheredReduction* gathered) {
  if (event.done()) {
    const gex_Event_t over = handle(call, std::move(event));
    if (over != GEX_EVENT_INVALID) gathered->all.reset();  // refused: there is nothing to combine
    combine_gathered(gathered);
    return over;
  }
  Composite* const made = take(false);
  made->root = event.release();
  made->gathered = gathered;
  return as_root(made);
}

}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

int aqg_test(gex_Event_t event) {
  check_has_begun("gex_Event_Test", event);
  if (!is_done(event)) return GASNET_ERR_NOT_READY;
  finish(event);
  return GASNET_OK;
}
void aqg_wait(gex_Event_t event) {
  check_has_begun("gex_Event_Wait", event);
  check_may_poll("gex_Event_Wait");
  if (is_root(event) || is_leaf(event)) {
    if (!is_done(event)) wait_until_done(event);
    finish(event);
    return;
  }
  Event waited = Event::adopt(event);
  if (const Status status = state().ep.wait(waited); !status) fail("gex_Event_Wait", nullptr, status);
}
int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  const Sweep swept = sweep(pevent, numevents);
  return swept.ended != 0 || swept.left == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}
int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  return sweep(pevent, numevents).left == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}
void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  check_may_poll("gex_Event_WaitSome");
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
  check_may_poll("gex_Event_WaitAll");
  if (sweep(pevent, numevents).left == 0) return;
  std::size_t next = 0;  // those before it are done
  wait_for("gex_Event_WaitAll", [&] {
    while (next < numevents && is_done(pevent[next])) ++next;
    return next == numevents;
  });
  sweep(pevent, numevents);
}

gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t category) {
  if (!is_root(root)) return GEX_EVENT_INVALID;
  Composite& c = composite(root);
  // A region's group does not count its puts, gets and atomics apart.
  const gex_Event_t leaf = c.group != nullptr && category != GEX_EC_LC ? as_whole(&c) : as_leaf(&c);
  return is_done(leaf) ? GEX_EVENT_INVALID : leaf;
}

int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t) {
  Thread& mine = thread();
  const bool done = ((event_mask & GEX_EC_PUT) == 0 || mine.puts.done()) &&
                    ((event_mask & GEX_EC_GET) == 0 || mine.gets.done()) &&
                    ((event_mask & GEX_EC_RMW) == 0 || mine.atomics.done()) &&
                    ((event_mask & GEX_EC_AM) == 0 || mine.messages.done()) &&
                    ((event_mask & GEX_EC_LC) == 0 || mine.puts.source_done());
  return done ? GASNET_OK : GASNET_ERR_NOT_READY;
}
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t) {
  check_may_poll("gex_NBI_Wait");
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

int gasnet_AMPoll(void) {
  check_may_poll("gasnet_AMPoll");
  state().ep.progress();
  return GASNET_OK;
}
void aqg_pause(unsigned* round) {
  check_may_poll("GASNET_BLOCKUNTIL");
  // In the first rounds the condition is often about to hold. Later ones wait for an arrival as the library does, which
  // knows whether to spin, to yield or to sleep here. But not for long: what the condition looks at may be memory that
  // another rank or thread changes, which is noticed late by 6 % of the wait, and by 2 ms or 100 us at first.
  constexpr unsigned kSpins = 64;
  constexpr unsigned kShort = kSpins + 64;
  constexpr unsigned kOfALength = 32;
  constexpr std::chrono::nanoseconds kShortest{100'000};
  constexpr std::chrono::nanoseconds kFirstWithSleep{2'000'000};  // the library sleeps after 1 ms
  constexpr std::chrono::nanoseconds kLongest{16'000'000};
  Endpoint& ep = state().ep;
  const int mode = wait_mode.load(std::memory_order_relaxed);
  if (mode == GASNET_WAIT_SPIN || *round < (mode == GASNET_WAIT_BLOCK ? 1 : kSpins)) {
    ++*round;
    ep.progress();
    return;
  }
  const auto limit = *round < kShort ? kShortest : kFirstWithSleep * (1 << (*round - kShort) / kOfALength);
  if (ep.progress_for(limit).code() == ErrorCode::timed_out && limit < kLongest) ++*round;
}

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
