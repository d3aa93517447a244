// The end of a job in which all ranks take part.

#include <aqueduct/job.hpp>

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "core/entry.hpp"
#include "core/wait.hpp"
#include "runtime/job_impl.hpp"
#include "runtime/job_tuning.hpp"
#include "runtime/open_jobs.hpp"
#include "runtime/stand_ins.hpp"
#include "runtime/watch_losses.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>

namespace aqueduct {

namespace {

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

/// Waits until the connections that this process has begun are made, and what waits for room is given to the network: network libraries cannot always bear that a peer ends
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
  const Status status = core::wait_until(
      job.endpoints.front()->state, settled, kNoRank,
      [] { return std::string("connections to be made and transfers to be given to the network"); },
      kSettling, naps_of(job));
  if (status.code() == ErrorCode::timed_out)
    job.endpoints.front()->state.log.warn(
        "finish: connections have not been made, or transfers not been given to the network, for {} s: "
        "transfers that nobody has waited for may be lost",
        kSettling.count());
}

/// Chosen: long enough for the last messages of what others still do with this rank. Not for ever: another rank may wait
/// for a call that this one will not make any more, and learns by its leaving that it waits in vain.
constexpr std::chrono::seconds kFarewells{2};

bool knows_of_loss(const Job::Impl& job) {
  return std::ranges::any_of(job.endpoints, [](const auto& parts) { return parts->state.lost_count != 0; });
}

/// Ranks that only this one has lost may live, and wait for it. No message reaches them, so the launcher tells them.
void tell_if_cut_off(Job::Impl& job) {
  const auto untold = [](const auto& parts) {
    const core::Entry entry(parts->state);
    return parts->state.barriers->loss_news().untold();
  };
  if (std::ranges::any_of(job.endpoints, untold)) job.bootstrap->tell_cut_off();
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

/// Waits until all ranks that are not lost are in Job::finish, and know of a loss too, or have left. Ranks that still wait for a
/// collective call of this rank are told that there will be none.
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

/// Other ranks may wait for messages that have not left this process yet. A second is far more than these need.
void all_sent(Job::Impl& job) {
  const auto sent = [&] {
    bool all_sent = true;
    for (auto& parts : job.endpoints) {
      const core::Entry entry(parts->state);
      core::progress(parts->state);
      all_sent = parts->state.messages->all_sent() && parts->state.busy == 0 && all_sent;
    }
    return all_sent;
  };
  static_cast<void>(core::wait_until(
      job.endpoints.front()->state, sent, kNoRank, [] { return std::string("the last messages to leave"); },
      std::chrono::seconds(1), naps_of(job)));
}

/// Once for all teams of this process. Nobody waits for this process any more, which may wait for a file's lock: for `patience`.
void save_learned(Job::Impl& job, std::chrono::milliseconds patience) noexcept {
  auto& leading = job.endpoints.front()->state;
  try {
    coll::LearnedDecisions learned;
    for (auto& parts : job.endpoints) parts->state.layer<coll::Collectives>()->tell_learned(learned);
    runtime::save_learned(leading, learned, patience);
  } catch (const std::exception& thrown) {
    leading.log.warn("AQUEDUCT_COLL_LEARN: what was learned is not saved: {}", thrown.what());
  }
}

}  // namespace

Status Job::finish() {
  if (impl_->in_child()) return ErrorCode::invalid_argument;
  if (impl_->finished) return {};
  for (auto& parts : impl_->endpoints) {  // the endpoint would end under the handler that runs on it
    const core::Entry entry(parts->state);
    if (parts->state.must_not_wait()) return ErrorCode::in_handler;
  }
  runtime::end_if_asked(*impl_);  // barriers that are reached at once make no check
  impl_->finished = true;
  runtime::stop_stand_ins(*impl_);
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
  all_sent(*impl_);
  if (!first.ok()) tell_if_cut_off(*impl_);  // last: to those who are told, this rank is lost at once
  // After a loss the launcher may end this process, so there is no time to wait.
  if (first.ok() || knows_of_loss(*impl_))
    save_learned(*impl_, first.ok() ? coll::kLockPatience : std::chrono::milliseconds(0));
  impl_->leaving.close(*impl_->bootstrap);
  runtime::job_closed(*impl_);
  impl_->has_left = true;
  impl_->bootstrap->leave();
  impl_->endpoints.clear();
  return first;
}

}  // namespace aqueduct
