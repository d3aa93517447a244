// fault_victim WHEN HOW VICTIM: rank VICTIM dies; the others print what they notice and when, and end well. WHEN:
// before, during, barrier, puts, messages or sleep. HOW: kill or an exit status.

#include <aqueduct/aqueduct.hpp>

#include "bootstrap/client.hpp"
#include "bootstrap/description.hpp"
#include "core/endpoint_state.hpp"
#include "runtime/start.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

using namespace aqueduct;
using Clock = std::chrono::steady_clock;

namespace {

struct Plan {
  std::string when;
  std::string how;
  Rank victim;
};

[[noreturn]] void die(const Plan& plan) {
  std::fflush(nullptr);
  if (plan.how == "kill") std::raise(SIGKILL);
  std::_Exit(std::atoi(plan.how.c_str()));
}

std::int64_t now() { return Clock::now().time_since_epoch().count(); }

/// Does the first step of a start, and no more.
void meet_and_die(const Plan& plan, const std::string& description) {
  Job::Impl job(Config::from_environment());
  auto launcher = bootstrap::from_launcher(description, std::chrono::seconds(20), {});
  if (!launcher) std::_Exit(90);
  job.bootstrap = std::move(*launcher);
  if (!runtime::meet(job, 1)) std::_Exit(91);
  die(plan);
}

/// Tells all other ranks when it died; all processes have the same clock.
[[noreturn]] void say_when_and_die(Endpoint& me, const Plan& plan) {
  for (Rank rank = 0; rank < me.ranks(); ++rank) {
    if (!put_value(me, GlobalPtr<std::int64_t>{rank, 0}, now())) std::_Exit(92);
  }
  die(plan);
}

bool all_others_sleep(Endpoint& me) {
  for (Rank rank = 0; rank < me.ranks(); ++rank) {
    if (rank != me.rank() && me.state().near->state_of(rank).find("asleep") == std::string::npos)
      return false;
  }
  return true;
}

void victim(Endpoint& me, const Plan& plan, ShortRequest<NoArguments> handler, const std::uint64_t& heard) {
  const Rank next = (me.rank() + 1) % me.ranks();
  const auto until = now() + std::int64_t{10} * 1'000'000'000;
  if (plan.when == "puts") {
    std::byte bytes[3000] = {};
    for (int i = 0; i < 200; ++i)
      static_cast<void>(me.wait(put_nb(me, GlobalPtr<std::byte>{next, 64}, bytes)));
    say_when_and_die(me, plan);
  }
  if (plan.when == "messages") {
    while (heard < 500 && now() < until) {
      static_cast<void>(request(me, next, handler, {}, {.immediate = true}));
      me.progress();
    }
  }
  if (plan.when == "sleep") {
    while (!all_others_sleep(me) && now() < until) me.progress();
  }
  say_when_and_die(me, plan);
}

Status survivor(Endpoint& me, const Plan& plan, ShortRequest<NoArguments> handler) {
  Status status;
  if (plan.when == "barrier") return me.barrier();
  if (plan.when == "sleep") return wait_until(me, 0, 1, plan.victim);
  std::byte bytes[3000] = {};
  const std::int64_t until = now() + std::int64_t{10} * 1'000'000'000;
  while (status && now() < until) {
    for (Rank to = 0; to < me.ranks() && status; ++to) {
      if (to == me.rank()) continue;
      status = plan.when == "puts" ? me.wait(put_nb(me, GlobalPtr<std::byte>{to, 64}, bytes))
                                   : request(me, to, handler);
      me.progress();
    }
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 64;
  const Plan plan{argv[1], argv[2], static_cast<Rank>(std::atoi(argv[3]))};
  const char* description = std::getenv(bootstrap::kVariable);
  const auto about = bootstrap::parse_description(description != nullptr ? description : "");
  if (!about) return 64;
  const bool is_victim = about->process == plan.victim;
  if (is_victim && plan.when == "before") die(plan);
  if (is_victim && plan.when == "during") meet_and_die(plan, description);

  auto job = Job::start();
  if (!job) {
    std::printf("noticed %s at the start\n", job.status().text().c_str());
    return job.status().code() == ErrorCode::peer_lost ? 0 : job.status().exit_code();
  }
  Endpoint& me = job->endpoint();
  std::uint64_t heard = 0;
  const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) { ++heard; });
  if (!handler || !me.barrier()) return 93;
  if (is_victim) victim(me, plan, *handler, heard);

  const Status status = survivor(me, plan, *handler);
  const double took =
      1e-6 * static_cast<double>(now() - *reinterpret_cast<std::int64_t*>(me.segment().data()));
  const Status barrier = me.barrier();
  const bool is_lost = me.is_lost(plan.victim);
  // A rank that has exited is lost too, so none exits before all have noticed the victim's loss.
  for (Rank rank = 0; rank < me.ranks(); ++rank) {
    if (rank != plan.victim && !signal(me, rank, {1, 1})) return 94;
  }
  if (!wait_until(me, 1, me.ranks() - 1, me.rank(), std::chrono::seconds(10))) return 95;
  const Status finish = job->finish();
  std::printf("noticed %s\nafter %.1f ms; lost %d; barrier %d; finish %d\n", status.text().c_str(), took,
              is_lost, barrier.code() == ErrorCode::peer_lost, finish.code() == ErrorCode::peer_lost);
  return 0;
}
