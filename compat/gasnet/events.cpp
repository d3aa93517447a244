// Events of one operation each, and the records of those that have parts.

#include "compat/gasnet/composites.hpp"
#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"
#include "compat/gasnet/user_operators.hpp"

#include <mutex>
#include <utility>

namespace aqueduct::gasnet {
namespace {

/// Composites that are free, per process.
struct Pool {
  std::mutex mutex;
  Composite* free = nullptr;  ///< linked by next_free
};
Pool& pool(bool regions) {
  static Pool* const all = new Pool[2];
  return all[regions ? 1 : 0];
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

void wait_until_done(gex_Event_t event) {
  if (is_root(event) || is_leaf(event)) {
    Composite& c = composite(event);
    if (c.barrier != nullptr) return;  // `finish` waits
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

}  // namespace

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
void give_back(Composite& event) {
  Pool& all = pool(event.group != nullptr);
  const std::lock_guard lock(all.mutex);
  event.next_free = std::exchange(all.free, &event);
}

bool is_done(gex_Event_t event) noexcept {
  if (event == GEX_EVENT_INVALID) return true;
  if (is_root(event)) {
    const Composite& c = composite(event);
    if (c.barrier != nullptr) return c.barrier->team->try_wait();
    return c.group != nullptr ? c.group->done() : word_done(c.root);
  }
  if (is_leaf(event)) {
    const Composite& c = composite(event);
    if (c.group != nullptr) return is_whole(event) ? c.group->done() : c.group->source_done();
    return word_done(c.leaf);
  }
  return word_done(event);
}
void finish(gex_Event_t event) {
  if (is_root(event)) {
    Composite& c = composite(event);
    if (c.barrier != nullptr) {
      Tm& tm = *std::exchange(c.barrier, nullptr);
      const Status status = tm.team->wait();
      tm.barrier_is_split = false;
      if (!status) fail("a barrier", nullptr, status);
    } else if (c.group != nullptr) {
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
    give_back(c);
  } else if (is_leaf(event)) {
    Composite& c = composite(event);
    if (c.group == nullptr) collect(c.leaf.exchange(nullptr));
  } else {
    collect(event);
  }
}

void check_has_begun([[maybe_unused]] const char* call, [[maybe_unused]] gex_Event_t event) {
#ifdef AQUEDUCT_CHECKED
  if (event == GEX_EVENT_NO_OP)
    fail(call, "GEX_EVENT_NO_OP is no event: the operation was refused and has not begun");
#endif
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
    if (!source.done()) static_cast<void>(state().ep.wait(source));  // another thread is about to end it
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
    if (over == GEX_EVENT_INVALID) combine_gathered(gathered);
    return over;
  }
  Composite* const made = take(false);
  made->root = event.release();
  made->gathered = gathered;
  return as_root(made);
}

gex_Event_t handle_of_split_barrier(Tm& tm) {
  Composite* const made = take(false);
  made->barrier = &tm;
  return as_root(made);
}

}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

int aqg_test(gex_Event_t event) {
  check_context("gex_Event_Test");
  check_has_begun("gex_Event_Test", event);
  if (!is_done(event)) return GASNET_ERR_NOT_READY;
  finish(event);
  return GASNET_OK;
}
void aqg_wait(gex_Event_t event) {
  check_has_begun("gex_Event_Wait", event);
  check_context("gex_Event_Wait");
  if (is_root(event) || is_leaf(event)) {
    if (!is_done(event)) wait_until_done(event);
    finish(event);
    return;
  }
  Event waited = Event::adopt(event);
  if (const Status status = state().ep.wait(waited); !status) fail("gex_Event_Wait", nullptr, status);
}
gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t category) {
  if (!is_root(root)) return GEX_EVENT_INVALID;
  Composite& c = composite(root);
  // A region's group does not count its puts, gets and atomics apart.
  const gex_Event_t leaf = c.group != nullptr && category != GEX_EC_LC ? as_whole(&c) : as_leaf(&c);
  return is_done(leaf) ? GEX_EVENT_INVALID : leaf;
}
}
