#include "runtime/leaving.hpp"

#include <cstdio>
#include <cstdlib>

namespace aqueduct::runtime {
namespace {

static_assert(std::atomic<std::int64_t>::is_always_lock_free, "signal handlers use it");

/// Tells the launcher. Most launchers kill this process as soon as they know, so what it has printed is flushed first.
/// But a flush may wait for a reader, so it comes second where there is time.
void tell_and_flush(bootstrap::Bootstrap& launcher, int code) noexcept {
  const bool has_time = launcher.lives_after_exit();
  if (has_time) launcher.exit(code);
  std::fflush(nullptr);
  if (!has_time) launcher.exit(code);
}

}  // namespace

bool Leaving::request(int code) noexcept {
  std::int64_t none = kNone;
  if (!requested_.compare_exchange_strong(none, code)) return false;
  limit_.kill_later();
  return true;
}

void Leaving::close(bootstrap::Bootstrap& tell) noexcept {
  std::int64_t found = kNone;
  requested_.compare_exchange_strong(found, kClosed);
  if (const auto asked = code_in(found)) end(*asked, &tell);
  if (const auto begun = code_in(begun_)) join_end(*begun);
}

void Leaving::begin(int code) noexcept {
  std::int64_t found = kNone;
  if (!begun_.compare_exchange_strong(found, code)) join_end(static_cast<int>(found));
  limit_.end_later(code);
}

// Another thread ends the process with `code`, or this one is about to, after its exit handlers.
void Leaving::join_end(int code) noexcept {
  if (std::thread::id me = std::this_thread::get_id(); exiting_.compare_exchange_strong(me, {})) {
    std::fflush(nullptr);  // what the exit handlers have printed
    std::_Exit(code);
  }
  limit_.wait_and_end(code);
}

void Leaving::end(int code, bootstrap::Bootstrap* tell) noexcept {
  begin(code);
  if (tell != nullptr) {
    tell_and_flush(*tell, code);
  } else {
    std::fflush(nullptr);
  }
  // Neither exit handlers nor destructors of static objects: other threads may be using what these destroy.
  std::_Exit(code);
}

void Leaving::at_exit(int code, bootstrap::Bootstrap& tell) noexcept {
  if (const auto asked = requested()) end(*asked, &tell);
  const bool is_failure = (code & 0xff) != 0;
  if (has_begun()) begin(code);  // another thread ends this process, with its own code
  // A process that is alone has nobody to tell, and takes the time for its exit handlers that it needs.
  if (!is_failure || tell.processes() == 1) return;
  begin(code);
  tell_and_flush(tell, code);
  exiting_ = std::this_thread::get_id();
}

}  // namespace aqueduct::runtime
