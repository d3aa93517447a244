// The end of the job: gasnet_exit, the end of main, signals, and failures without a return value.

#include "compat/gasnet/state.hpp"
#include "compat/gasnet/tools.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include <signal.h>
#include <string.h>
#include <unistd.h>

namespace aqueduct::gasnet {
namespace {

/// How long the first rank that exits waits for the others to do so too, unless GASNET_EXITTIMEOUT says. Chosen: ranks that end
/// together do it within milliseconds, also with many of them on a core; others are ended by then.
constexpr auto kTogether = std::chrono::milliseconds(1500);

/// The time of GASNET_EXITTIMEOUT, or by GASNet's formula of those of its three parts that are set.
std::chrono::duration<double> find_exit_time() {
  const auto number = [](const char* variable, double usual) {
    return gasnett_getenv_dbl_withdefault(variable, usual);
  };
  const double usual = std::chrono::duration<double>(kTogether).count();
  const double least = number("GASNET_EXITTIMEOUT_MIN", usual);
  const double by_ranks = least + number("GASNET_EXITTIMEOUT_FACTOR", 0) * aqg_job_size;
  const double seconds =
      number("GASNET_EXITTIMEOUT", std::min(number("GASNET_EXITTIMEOUT_MAX", by_ranks), by_ranks));
  return std::chrono::duration<double>(seconds > 0 ? std::min(seconds, 1e6) : 0);  // of what is no number 0
}

std::chrono::duration<double> exit_time = kTogether;
std::atomic<bool> leaving{false};
thread_local volatile sig_atomic_t in_signal = 0;
thread_local bool leaves = false;  // this thread ends the process

/// Whether this thread is the one that ends the process: the first that asks.
bool is_first_to_leave() {
  if (!leaving.exchange(true)) leaves = true;
  return leaves;
}
/// Another thread is ending the process: within exit_time by Job::leave, or by Job::finish, which has limits of its own.
[[noreturn]] void wait_for_the_end() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

/// Waits until every rank has come to an exit, but not for long: then what they have printed is not cut off.
void wait_for_others() {
  State& s = state();
  if (s.ep.in_handler() || thread().in_loopback != 0 || locks_held != 0 || !s.exit_team) return;
  if (!s.exit_team->notify()) return;
  const auto end = std::chrono::steady_clock::now() + exit_time;
  while (!s.exit_team->try_wait()) {
    if (std::chrono::steady_clock::now() > end) return;
    static_cast<void>(s.ep.progress_for(std::chrono::milliseconds(1)));
  }
}

[[noreturn]] void leave(int code) {
  if (!is_first_to_leave()) wait_for_the_end();
  // The first rank that goes on may end the others. A stream that a reader holds locked must not keep this one from exiting.
  for (FILE* const stream : {stdout, stderr}) {
    if (ftrylockfile(stream) != 0) continue;
    fflush_unlocked(stream);
    funlockfile(stream);
  }
  wait_for_others();
  state().job.leave(code);
}

void at_end_of_main(int code, void*) {
  if (leaves) return;
  leave(code);
}
/// With GASNET_CATCH_EXIT=0, exit(0) finishes the job together with the other ranks. After any other exit the library's own exit
/// handler ends the job.
void at_end_of_all(int code, void*) {
  State& s = state();
  if (code != 0 || s.ep.in_handler() || thread().in_loopback != 0 || locks_held != 0) return;
  if (leaves) return;
  if (!is_first_to_leave()) wait_for_the_end();
  static_cast<void>(s.job.finish());
}

/// A signal that ends programs becomes SIGQUIT, which a client may handle.
void on_signal(int number) {
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(number, &usual, nullptr);
  in_signal = 1;
  raise(SIGQUIT);
  in_signal = 0;
}
void on_quit(int number) {
  in_signal = 1;
  gasnet_exit(128 + number);
}

}  // namespace

bool is_listed(int number, std::string_view list) {
  if (list == "*") return true;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    std::string word(one);
    std::erase_if(word, [](unsigned char c) { return std::isspace(c) != 0; });
    std::ranges::transform(word, word.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (word.starts_with("SIG")) word.erase(0, 3);
    const char* const name = sigabbrev_np(number);  // null for those of real time
    if ((name != nullptr && word == name) || word == std::to_string(number)) return true;
  }
  return false;
}

void watch_the_end() {
  const bool caught = gasnett_getenv_yesno_withdefault("GASNET_CATCH_EXIT", 1) != 0;
  on_exit(caught ? at_end_of_main : at_end_of_all, nullptr);
  const char* const listed = gasnet_getenv("GASNET_NO_CATCH_SIGNAL");
  const std::string_view left_alone = listed != nullptr ? listed : "";
  // In place of a handler that a library of the conduit's has set; an ignored signal stays ignored.
  const auto catch_it = [&](int number, void (*handler)(int)) {
    if (is_listed(number, left_alone)) return;
    struct sigaction old = {};
    if (sigaction(number, nullptr, &old) != 0 || old.sa_handler == SIG_IGN) return;
    struct sigaction ours = {};
    ours.sa_handler = handler;
    sigaction(number, &ours, nullptr);
  };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) catch_it(number, on_signal);
  catch_it(SIGQUIT, on_quit);
  exit_time = find_exit_time();
  catch_demand_signals();
  const bool backtraces = backtraces_are_wanted();
  const bool freezes = gasnett_getenv_yesno_withdefault("GASNET_FREEZE_ON_ERROR", 0) != 0;
  if (!backtraces && !freezes) return;
  if (backtraces) prepare_backtraces();
  prepare_fatal_signals(backtraces, freezes);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    if (!is_listed(number, left_alone)) catch_fatal_signal(number);
  }
}

void not_started() noexcept { fail("a call of GASNet", "gex_Client_Init, or gasnet_init, comes first"); }

void fail(const char* call, const char* why) {
  std::fprintf(stderr, "*** FATAL ERROR (rank %u): %s: %s\n", aqg_job_rank, call, why);
  gasnett_freezeForDebuggerErr();
  gasnett_print_backtrace_ifenabled(STDERR_FILENO);
  if (the_state == nullptr) std::abort();
  if (leaving.load() || !is_first_to_leave()) _exit(1);
  state().job.leave(1);
}
void fail(const char* call, const Peer* peer, Status why) {
  if (why.code() == ErrorCode::peer_lost || why.code() == ErrorCode::closed) {
    // The rank may have left with the whole job; this process then ends here, with the job's code.
    const auto end = std::chrono::steady_clock::now() + kTogether;
    while (std::chrono::steady_clock::now() < end)
      static_cast<void>(state().ep.progress_for(std::chrono::milliseconds(20)));
  }
  std::string text = why.text();
  if (peer != nullptr && peer->rank == kNoRank) {
    text = "the call names a rank that its team does not have";
  } else if (peer != nullptr) {
    text +=
        "; the call was to rank " + std::to_string(peer->rank) + ", endpoint " + std::to_string(peer->remote);
    if (why.code() == ErrorCode::out_of_range) {
      text +=
          ", at an address outside of its bound segment, or of a segment that was not published to this rank";
    }
  }
  fail(call, text.c_str());
}

}  // namespace aqueduct::gasnet

using namespace aqueduct::gasnet;

extern "C" void gasnet_exit(int exitcode) {
  if (the_state == nullptr) {
    std::fflush(nullptr);
    _exit(exitcode);
  }
  if (in_signal != 0) {
    // The launcher is told at once; the signal may have come inside a call that must not be entered again.
    leaving.store(true);
    state().job.request_leave(exitcode);
    struct timespec rest = {0, 300 * 1000 * 1000};
    nanosleep(&rest, nullptr);
    _exit(exitcode);
  }
  leave(exitcode);
}
