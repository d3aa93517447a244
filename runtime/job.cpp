#include <aqueduct/job.hpp>

#include "core/wait.hpp"
#include "runtime/builder.hpp"
#include "runtime/open_jobs.hpp"
#include "runtime/stand_ins.hpp"
#include "runtime/start.hpp"
#include "runtime/watch_losses.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

namespace aqueduct {

namespace {

/// Whether only the library's own code opens files from now on. It uses above_standard, so it never takes the
/// descriptors of the standard streams. Other libraries may.
bool opens_all_itself(const Job::Impl& job) {
  const auto is_own = [](const core::ConduitEntry* entry) {
    constexpr std::string_view kOwn[] = {"loop", "smp", "udp"};  // the others use network libraries
    return entry == nullptr || std::ranges::find(kOwn, entry->name) != std::end(kOwn);
  };
  return job.launcher != "pmix" && is_own(job.choice.near) && is_own(job.choice.far);
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
  runtime::watch_losses(job);
  if (opens_all_itself(job)) job.standard_places.free();
  runtime::job_opened(job);
  runtime::start_stand_ins(job);
  return {};
}

Result<Job> build(std::unique_ptr<Job::Impl> job, std::size_t endpoints, core::Network* far) try {
  if (const Status status = build_steps(*job, endpoints, far); !status) {
    if (job->bootstrap != nullptr) runtime::end_if_asked(*job);
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
  // Nor does a program return from a job that another rank has ended with a code: this one may have lost that rank before
  // it has read why.
  if (!impl->in_child() && !impl->finished) {
    impl->bootstrap->poll_losses([](std::uint32_t) {});
    runtime::end_if_asked(*impl);
  }
  if (!impl->in_child() && !impl->leaving.has_begun()) {
    runtime::stop_stand_ins(*impl);
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
        [&] { return fmt::format("{} other threads of this process", endpoints() - ended); },
        std::chrono::nanoseconds::max(), core::kMemoryNaps));
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

void Job::abort(int exit_code, std::string_view why) noexcept {
  if (impl_->in_child()) return;
  // Launchers return the low byte of the code, and an abort must not look like a success.
  impl_->bootstrap->abort((exit_code & 0xff) != 0 ? exit_code : 1, why);
}

}  // namespace aqueduct
