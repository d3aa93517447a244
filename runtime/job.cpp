#include <aqueduct/job.hpp>

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "core/entry.hpp"
#include "core/wait.hpp"
#include "runtime/builder.hpp"
#include "runtime/job_tuning.hpp"
#include "runtime/open_jobs.hpp"
#include "runtime/start.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <string_view>
#include <thread>

namespace aqueduct {
namespace {

/// Ends this process if another one has left the job with a code, or if a signal handler of this one wants to.
void end_if_asked(Job::Impl& job) {
  if (const auto code = job.leaving.requested()) job.leaving.end(*code, job.bootstrap.get());
  if (const auto code = job.bootstrap->exit_asked()) job.leaving.end(*code, nullptr);
}

/// Makes each endpoint take the launcher's reports of lost processes, on the endpoint's own thread.
void watch_losses(Job::Impl& job) {
  job.losses.reserve(job.bootstrap->processes());  // so that a report needs no memory
  for (auto& parts : job.endpoints) {
    parts->state.poll_losses = [&job, &state = parts->state, seen = std::size_t{0}]() mutable {
      const std::lock_guard lock(job.losses_mutex);
      job.bootstrap->poll_losses([&](std::uint32_t process) { job.losses.push_back(process); });
      end_if_asked(job);
      for (; seen < job.losses.size(); ++seen) {
        if (job.losses[seen] >= job.ranks_of.size()) continue;
        for (Rank rank : job.ranks_of[job.losses[seen]]) {
          state.peer_lost(rank);
          state.barriers->loss_news().confirm(rank);
        }
      }
      if (const Rank rank = state.barriers->unreachable(); rank != kNoRank) state.peer_lost(rank);
      if (const Rank rank = state.messages->unreachable(); rank != kNoRank) state.peer_lost(rank);
      state.barriers->loss_news().pass_on();
    };
  }
}

/// How a wait that polls all endpoints of this process sleeps: what arrives at one of several does not wake another's wait.
const core::Naps& naps_of(const Job::Impl& job) noexcept {
  return job.endpoints.size() == 1 ? core::kArrivalNaps : core::kMemoryNaps;
}

constexpr auto kNoLimit = std::chrono::nanoseconds::max();

/// Waits until `done` holds for all endpoints of this process at once. One endpoint after the other would wait for ever,
/// because an endpoint that is not polled sends no messages on. `describe`: of the endpoint that is waited for.
template <class Done, class Describe>
Status wait_for_all(Job::Impl& job, const Done& done, const Describe& describe) {
  auto& leading = job.endpoints.front()->state;
  core::EndpointState* waiting = &leading;
  const auto all = [&] {
    bool reached = true;
    for (auto& parts : job.endpoints) {
      const core::Entry entry(parts->state);
      core::progress(parts->state);  // for all, even if its own barrier is reached: others need its messages
      parts->state.barriers->join_phases();
      if (done(*parts->state.barriers)) continue;
      reached = false;
      waiting = &parts->state;
    }
    return reached;
  };
  const auto whom = [&] { return describe(*waiting->barriers); };
  return core::wait_until(leading, all, kNoRank, whom, kNoLimit, naps_of(job));
}

/// A barrier of all ranks.
Status all_barrier(Job::Impl& job) {
  for (auto& parts : job.endpoints) {
    const core::Entry entry(parts->state);
    parts->state.barriers->ask_to_finish(parts->state.world->state());
  }
  Status first = wait_for_all(
      job, [](coll::Barriers& barriers) { return barriers.finish_over(); },
      [](const coll::Barriers& barriers) {
        return "all ranks to finish, above all " + barriers.missing_to_finish();
      });
  for (auto& parts : job.endpoints) {
    if (const Status ended = parts->state.barriers->finish_outcome(); !ended && first.ok()) first = ended;
  }
  return first;
}

/// Waits until what the program has left in flight of barriers has ended. All ranks are in Job::finish.
void all_left_over(Job::Impl& job) {
  static_cast<void>(wait_for_all(
      job, [](coll::Barriers& barriers) { return barriers.left_over(); },
      [](const coll::Barriers&) { return std::string("barriers that the program has left in flight"); }));
}

/// Chosen: a peer that is alive answers while it waits for the last barrier; far longer only on a machine in distress.
constexpr std::chrono::seconds kSettling{5};

/// Waits until the connections that this process has begun are made: network libraries cannot always bear that a peer ends
/// while they connect.
void all_settled(Job::Impl& job) {
  const auto settled = [&] {
    bool all = true;
    for (auto& parts : job.endpoints) {
      const core::Entry entry(parts->state);
      core::progress(parts->state);
      parts->state.barriers->join_phases();
      if (parts->state.near != nullptr) all = parts->state.near->settled() && all;
      if (parts->state.far != nullptr) all = parts->state.far->settled() && all;
    }
    return all;
  };
  static_cast<void>(core::wait_until(
      job.endpoints.front()->state, settled, kNoRank, [] { return std::string("connections to be made"); },
      kSettling, naps_of(job)));
}

/// Chosen: long enough for the last messages of what others still do with this rank. Not for ever: another rank may wait
/// for a call that this one will not make any more, and learns by its leaving that it waits in vain.
constexpr std::chrono::seconds kFarewells{2};

bool knows_of_loss(const Job::Impl& job) {
  return std::ranges::any_of(job.endpoints, [](const auto& parts) { return parts->state.lost_count != 0; });
}

/// Waits until `done` holds for the farewells of all endpoints of this process. Returns whether it does.
bool wait_for_farewells(Job::Impl& job, bool (coll::Farewells::*done)() noexcept, const char* what) {
  const auto for_all = [&] {
    bool all = true;
    for (auto& parts : job.endpoints) {
      const core::Entry entry(parts->state);
      core::progress(parts->state);
      all = (parts->state.barriers->farewells().*done)() && all;
    }
    return all;
  };
  return core::wait_until(
             job.endpoints.front()->state, for_all, kNoRank, [&] { return std::string(what); }, kFarewells,
             naps_of(job))
      .ok();
}

constexpr const char* kRoomToLeave = "room to tell the other ranks that this one leaves";

/// Waits until all ranks that are not lost are in Job::finish, and know of a loss too, or have left. Who still waits for a
/// collective call of this rank is told that there will be none.
void all_farewells(Job::Impl& job) {
  for (auto& parts : job.endpoints) {
    const core::Entry entry(parts->state);
    parts->state.layer<coll::Collectives>()->tell_finish();
  }
  if (wait_for_farewells(job, &coll::Farewells::over, "the other ranks to finish after a loss")) return;
  wait_for_farewells(job, &coll::Farewells::left, kRoomToLeave);
}

/// Waits until the long requests that leave inside progress have left. A peer that has finished could not take the
/// payload any more. Each ends when its peer makes progress or is lost.
Status all_followed(Job::Impl& job) {
  const auto none_left = [&] {
    return std::ranges::all_of(job.endpoints,
                               [](auto& parts) { return parts->state.messages->none_to_follow(); });
  };
  const auto followed = [&] {
    if (none_left()) return true;
    for (auto& parts : job.endpoints) {  // one may be another's target
      const core::Entry entry(parts->state);
      core::progress(parts->state);
    }
    return none_left();
  };
  return core::wait_until(
      job.endpoints.front()->state, followed, kNoRank, [] { return std::string("long requests to leave"); },
      kNoLimit, naps_of(job));
}

/// Whether only the library's own code opens files from now on. It uses above_standard, so it never takes the
/// descriptors of the standard streams. Other libraries may.
bool opens_all_itself(const Job::Impl& job) {
  const auto is_own = [](const core::ConduitEntry* entry) {
    constexpr std::string_view kOwn[] = {"loop", "smp", "udp"};  // the others use network libraries
    return entry == nullptr || std::ranges::find(kOwn, entry->name) != std::end(kOwn);
  };
  return job.launcher != "pmix" && is_own(job.choice.near) && is_own(job.choice.far);
}

/// Starts a thread for each endpoint that goes on with collective operations while the program computes. Without one
/// everything works, but peers wait for a rank that computes.
void start_stand_ins(Job::Impl& job) {
  std::chrono::nanoseconds patience(job.config.nanoseconds("coll_progress"));
  if (patience.count() <= 0 || job.process.ranks == 1) return;
  patience = std::max<std::chrono::nanoseconds>(patience, std::chrono::microseconds(20));
  for (auto& parts : job.endpoints) try {
      parts->state.stand_in =
          std::make_unique<core::StandIn>(parts->state, patience, am::Messages::is_for_program);
    } catch (const std::exception& problem) {  // no thread, or no memory for one
      job.log.warn(
          "the system gives no thread for AQUEDUCT_COLL_PROGRESS ({}): collective operations go on only in "
          "calls",
          problem.what());
    }
}

/// Before the endpoints end: one may use what belongs to another.
void stop_stand_ins(Job::Impl& job) {
  for (auto& parts : job.endpoints) {
    if (parts->state.stand_in != nullptr) parts->state.stand_in->stop();
  }
}

/// Chosen. Each rank has tables of all ranks, so memory grows with the square: the tables of this many take 0.3 GB.
constexpr Rank kMostInProcess = 1024;

Status build_steps(Job::Impl& job, std::size_t endpoints, core::Network* far) {
  if (job.bootstrap == nullptr) {
    if (const Status status = runtime::join(job); !status) {
      for (const SettingProblem& problem : job.config.problems()) job.log.error("{}", problem.text);
      return status;
    }
  }
  if (const Status status = runtime::meet(job, endpoints); !status) return status;
  if (const Status status = runtime::open_endpoints(job, far); !status) return status;
  watch_losses(job);
  if (opens_all_itself(job)) job.standard_places.free();
  runtime::job_opened(job);
  start_stand_ins(job);
  return {};
}

Result<Job> build(std::unique_ptr<Job::Impl> job, std::size_t endpoints, core::Network* far) try {
  if (const Status status = build_steps(*job, endpoints, far); !status) {
    if (job->bootstrap != nullptr) end_if_asked(*job);
    return status;
  }
  return Job(std::move(job));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Result<Job> build_here(Rank ranks, const Config& config, core::Network* far) {
  auto job = std::make_unique<Job::Impl>(config);
  if (ranks == 0 || ranks > kMostInProcess) {
    job->log.error("Job::in_process: {} ranks: a process may hold 1 to {}; start several processes for more",
                   ranks, kMostInProcess);
    return ErrorCode::invalid_argument;
  }
  job->bootstrap = bootstrap::alone();
  job->launcher = "in-process";
  return build(std::move(job), ranks, far);
}

/// Once for all teams of this process. Nobody waits for this process any more, which may wait for a file's lock.
void save_learned(Job::Impl& job) noexcept {
  auto& leading = job.endpoints.front()->state;
  try {
    coll::LearnedDecisions learned;
    for (auto& parts : job.endpoints) parts->state.layer<coll::Collectives>()->tell_learned(learned);
    runtime::save_learned(leading, learned);
  } catch (const std::exception& thrown) {
    leading.log.warn("AQUEDUCT_COLL_LEARN: what was learned is not saved: {}", thrown.what());
  }
}

}  // namespace

Result<Job> Job::start(const Config& config) {
  return build(std::make_unique<Impl>(config), static_cast<std::size_t>(config.number("endpoints")), nullptr);
}

Result<Job> Job::in_process(Rank ranks, const Config& config) { return build_here(ranks, config, nullptr); }

Result<Job> runtime::build_in_process(Rank ranks, const Config& config, core::Network& far) {
  return build_here(ranks, config, &far);
}

// A forked child has sockets, mapped memory and objects of network libraries in common with its parent. Ending them
// would end the parent's. So the child's copy of the job is kept until the process ends.
//
// Nor does a job end while its process leaves it: another thread is using it, for a few moments more. A request to leave
// that no check has seen yet is obeyed here: nobody else would.
void Job::End::operator()(Impl* impl) const noexcept {
  if (const auto asked = impl->leaving.requested(); asked && !impl->in_child())
    impl->leaving.end(*asked, impl->bootstrap.get());
  if (!impl->in_child() && !impl->leaving.has_begun()) {
    stop_stand_ins(*impl);
    runtime::job_closed(*impl);
    delete impl;
    return;
  }
  static std::atomic<Impl*> last_kept{nullptr};  // the list of kept jobs, so that leak checkers find them
  impl->kept = last_kept.exchange(impl);
}

Job::Job(std::unique_ptr<Impl> impl) noexcept : impl_(impl.release()) {}
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;
Job::~Job() = default;

Rank Job::ranks() const noexcept { return impl_->process.ranks; }
std::size_t Job::endpoints() const noexcept { return impl_->endpoints.size(); }
std::string_view Job::launcher() const noexcept { return impl_->launcher; }
const Config& Job::config() const noexcept { return impl_->config; }

Endpoint& Job::endpoint(std::size_t index) noexcept {
  AQUEDUCT_EXPECT(index < impl_->endpoints.size(),
                  "Job::endpoint: this process has fewer endpoints, or has finished");
  return impl_->endpoints[index]->state.face;
}

void Job::run_each(const std::function<void(Endpoint&)>& body) {
  if (endpoints() == 1) return body(endpoint());
  // No body begins before all threads are there: one that called a collective operation would wait for those that are not.
  enum class Start { undecided, run, end };
  std::atomic<Start> start{Start::undecided};
  std::vector<std::thread> threads;
  std::atomic<std::size_t> ended{0};
  const auto decide = [&](Start decision) {
    start = decision;
    start.notify_all();
  };
  const auto run = [&](std::size_t i) {
    start.wait(Start::undecided);
    if (start == Start::end) return;
    body(endpoint(i));
    ++ended;
    // The other endpoints of this process may still need messages that this one passes on.
    static_cast<void>(core::wait_until(
        endpoint(i).state(), [&] { return ended == endpoints(); }, kNoRank,
        [&] { return fmt::format("{} other threads of this process", endpoints() - ended); }, kNoLimit,
        core::kMemoryNaps));
  };
  try {
    threads.reserve(endpoints());
    for (std::size_t i = 0; i < endpoints(); ++i) threads.emplace_back(run, i);
  } catch (...) {
    impl_->log.error("Job::run_each: thread {} of {} cannot be started; none runs (`ulimit -u`, memory)",
                     threads.size() + 1, endpoints());
    decide(Start::end);
    for (std::thread& thread : threads) thread.join();
    throw;
  }
  decide(Start::run);
  for (std::thread& thread : threads) thread.join();
}

Status Job::finish() {
  if (impl_->in_child()) return ErrorCode::invalid_argument;
  if (impl_->finished) return {};
  for (auto& parts : impl_->endpoints) {  // the endpoint would end under the handler that runs on it
    const core::Entry entry(parts->state);
    if (parts->state.must_not_wait()) return ErrorCode::in_handler;
  }
  end_if_asked(*impl_);  // barriers that are reached at once make no check
  impl_->finished = true;
  stop_stand_ins(*impl_);
  static_cast<void>(all_followed(*impl_));
  const Status first = all_barrier(*impl_);
  // A rank that leaves counts as lost, and a loss ends the barriers of ranks that still
  // wait for a third rank's message. So no rank leaves before all have passed the
  // barrier: a second barrier tells that. A failure of the second one does no harm.
  if (first.ok()) {
    all_left_over(*impl_);
    all_settled(*impl_);
    // It fails if another rank has passed it and left while this one still waits for a third rank's message.
    // No time limit: a rank that leaves early is a loss to those that still are in the first barrier.
    if (!all_barrier(*impl_).ok())
      wait_for_farewells(*impl_, &coll::Farewells::left_last_barrier, kRoomToLeave);
  } else if (knows_of_loss(*impl_)) {
    // After a loss no barrier tells it. The others may still have operations among themselves.
    all_farewells(*impl_);
  }
  auto& leading = impl_->endpoints.front()->state;
  // Other ranks may wait for messages that have not left this process yet. A second is far more than these need.
  const auto sent = [&] {
    bool all_sent = true;
    for (auto& parts : impl_->endpoints) {
      const core::Entry entry(parts->state);
      core::progress(parts->state);
      all_sent = parts->state.messages->all_sent() && parts->state.busy == 0 && all_sent;
    }
    return all_sent;
  };
  static_cast<void>(core::wait_until(
      leading, sent, kNoRank, [] { return std::string("the last messages to leave"); },
      std::chrono::seconds(1), naps_of(*impl_)));
  if (first.ok()) save_learned(*impl_);
  impl_->leaving.close(*impl_->bootstrap);
  runtime::job_closed(*impl_);
  impl_->has_left = true;
  impl_->bootstrap->leave();
  impl_->endpoints.clear();
  return first;
}

void Job::abort(int exit_code, std::string_view why) noexcept {
  if (!impl_->in_child()) impl_->bootstrap->abort(exit_code, why);
}

}  // namespace aqueduct
