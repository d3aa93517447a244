#include "bootstrap/pmix.hpp"

#include "bootstrap/key_value.hpp"
#include "bootstrap/pmix_events.hpp"
#include "bootstrap/pmix_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

namespace aqueduct::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::string_view kCollect = "collect the values of all processes";

/// Frees a value that PMIx_Get allocated.
struct FreeValue {
  void operator()(pmix_value_t* value) const noexcept {
    if (value->type == PMIX_STRING) std::free(value->data.string);
    if (value->type == PMIX_BYTE_OBJECT) std::free(value->data.bo.bytes);
    std::free(value);
  }
};
using Value = std::unique_ptr<pmix_value_t, FreeValue>;

/// PMIx is per process, so this is too: how many jobs this process has joined, and how many it is in now. When the
/// last job leaves, PMIx is finalized; servers do not accept the same process a second time.
struct Users {
  std::atomic<std::uint32_t> ever{0};
  std::atomic<std::uint32_t> now{0};
};
Users& users() {
  static Users all;
  return all;
}

/// The outcome of an operation. PMIx's thread reports it, perhaps after the caller has given up waiting.
struct Outcome {
  std::mutex mutex;
  std::condition_variable told;
  std::optional<pmix_status_t> status;
  pmix_info_t argument{};  // kept here because PMIx may read it as long as the operation runs

  static void tell(pmix_status_t status, void* reference) {
    const std::unique_ptr<std::shared_ptr<Outcome>> mine(static_cast<std::shared_ptr<Outcome>*>(reference));
    const std::lock_guard lock((*mine)->mutex);
    (*mine)->status = status;
    (*mine)->told.notify_all();
  }
};

class Pmix final : public KeyValueSpace {
 public:
  Pmix(std::shared_ptr<const PmixLibrary> pmix, const pmix_proc_t& me, std::chrono::milliseconds timeout,
       Report report, std::uint32_t use)
      : pmix_(std::move(pmix)), me_(me), timeout_(timeout), report_(std::move(report)), use_(use) {}

  /// Asks PMIx for the size of the job and this process's neighbours. False: PMIx does not say how large the job is.
  bool look_around() {
    const Value size = lookup(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    if (size == nullptr || size->type != PMIX_UINT32 || size->data.uint32 <= me_.rank) return false;
    processes_ = size->data.uint32;
    if (const Value node = lookup(me_.rank, PMIX_NODEID); node != nullptr && node->type == PMIX_UINT32) {
      host_ = fmt::format("node {}", node->data.uint32);
    }
    neighbour_.assign(processes_, false);
    if (const Value peers = lookup(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
        peers != nullptr && peers->type == PMIX_STRING && peers->data.string != nullptr) {
      note_neighbours(peers->data.string);
    }
    events_.emplace(pmix_, me_, processes_);
    return true;
  }

  std::string_view launcher() const noexcept override { return "pmix"; }
  std::uint32_t process() const noexcept override { return me_.rank; }
  std::uint32_t processes() const noexcept override { return processes_; }
  std::string host() const override { return host_; }
  std::uint32_t use() const noexcept override { return use_; }
  bool knows_as_neighbour(std::uint32_t process) const override { return neighbour_[process]; }

  Status put(std::string_view name, std::span<const std::byte> bytes, Audience audience) override {
    pmix_value_t value{};
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = reinterpret_cast<char*>(const_cast<std::byte*>(bytes.data()));  // PMIx copies
    value.data.bo.size = bytes.size();
    const pmix_scope_t scope = audience == Audience::neighbours ? PMIX_LOCAL
                               : audience == Audience::others   ? PMIX_REMOTE
                                                                : PMIX_GLOBAL;
    if (const auto done = pmix_->put(scope, std::string(name).c_str(), &value); done != PMIX_SUCCESS) {
      return fail(fmt::format("store the value {}", name), done);
    }
    return {};
  }

  Status fence() override {
    if (const auto done = pmix_->commit(); done != PMIX_SUCCESS)
      return fail("publish the values of this process", done);
    auto outcome = std::make_shared<Outcome>();
    pmix_info_t& collect = outcome->argument = info_of(PMIX_COLLECT_DATA);
    collect.value.type = PMIX_BOOL;
    collect.value.data.flag = true;
    auto* const reference = new std::shared_ptr<Outcome>(outcome);
    const auto begun = pmix_->fence_nb(nullptr, 0, &collect, 1, Outcome::tell, reference);
    if (begun != PMIX_SUCCESS) {
      delete reference;
      return begun == PMIX_OPERATION_SUCCEEDED ? Status{} : fail(kCollect, begun);
    }
    const auto deadline = Clock::now() + timeout_;
    std::unique_lock lock(outcome->mutex);
    while (!outcome->status) {
      // Waits in steps: PMIx may never complete a request after its launcher has ended.
      outcome->told.wait_until(lock, std::min(deadline, Clock::now() + 100ms));
      if (outcome->status) break;
      if (events_->launcher_is_gone()) return fail(ErrorCode::bootstrap_failed, kLauncherEnded);
      if (Clock::now() >= deadline) {
        return fail(ErrorCode::timed_out, waited_in_vain(me_.rank, timeout_, others_of(processes_)));
      }
    }
    if (*outcome->status != PMIX_SUCCESS) return fail(kCollect, *outcome->status);
    return {};
  }

  Result<std::vector<std::byte>> get(std::uint32_t process, std::string_view name) override {
    const Value value = lookup(process, std::string(name).c_str(), /*wait=*/true);
    if (value == nullptr || value->type != PMIX_BYTE_OBJECT) {
      return fail(
          ErrorCode::bootstrap_failed,
          fmt::format(
              "PMIx has no value {} of process {}: {}; do all processes use the same version of Aqueduct?",
              name, process, pmix_->text(last_)));
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
    return std::vector<std::byte>(bytes, bytes + value->data.bo.size);
  }

  void poll_losses(const std::function<void(std::uint32_t)>& lost) noexcept override {
    if (!events_) return;
    if (events_->launcher_is_gone() && !std::exchange(told_of_end_, true) && report_) {
      report_(kLauncherEndedAllLost);
    }
    events_->poll(lost);
  }
  void leave() noexcept override {
    --users().now;
    pmix_->finalize(nullptr, 0);
    events_.reset();
  }
  void abort(int exit_code, std::string_view why) noexcept override {
    pmix_->abort(exit_code, std::string(why).c_str(), nullptr, 0);
  }

 private:
  Value lookup(pmix_rank_t process, const char* key, bool wait = false) {
    pmix_proc_t whom = me_;
    whom.rank = process;
    pmix_info_t info = info_of(wait ? PMIX_TIMEOUT : PMIX_OPTIONAL);
    if (wait) {
      info.value.type = PMIX_INT;
      info.value.data.integer = static_cast<int>(std::max<std::int64_t>(1, timeout_.count() / 1000));
    } else {
      info.value.type = PMIX_BOOL;
      info.value.data.flag = true;
    }
    pmix_value_t* value = nullptr;
    last_ = pmix_->get(&whom, key, &info, 1, &value);
    return Value(last_ == PMIX_SUCCESS ? value : nullptr);
  }

  /// Parses a list such as "0,1,5".
  void note_neighbours(std::string_view list) {
    while (!list.empty()) {
      const auto comma = list.find(',');
      const std::string_view item = list.substr(0, comma);
      list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
      std::uint32_t process = 0;
      const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), process);
      if (error == std::errc{} && process < processes_) neighbour_[process] = true;
    }
  }

  Status fail(ErrorCode code, std::string_view why) {
    if (report_) report_(why);
    return code;
  }
  Status fail(std::string_view doing, pmix_status_t status) {
    const bool gone = status == PMIX_ERR_LOST_CONNECTION || status == PMIX_ERR_UNREACH;
    return fail(ErrorCode::bootstrap_failed,
                gone ? kLauncherEnded
                     : fmt::format("PMIx could not {}: {}; has a process of this job already ended?", doing,
                                   pmix_->text(status)));
  }

  const std::shared_ptr<const PmixLibrary> pmix_;
  const pmix_proc_t me_;
  const std::chrono::milliseconds timeout_;
  const Report report_;
  const std::uint32_t use_;
  std::uint32_t processes_ = 0;
  std::string host_;
  std::vector<bool> neighbour_;
  std::optional<PmixEvents> events_;
  pmix_status_t last_ = PMIX_SUCCESS;
  bool told_of_end_ = false;
};

}  // namespace

Result<std::unique_ptr<Bootstrap>> from_pmix(const std::string& library, std::chrono::milliseconds timeout,
                                             Report report) {
  const auto say = [&report](const std::string& why) {
    if (report) report(why);
    return ErrorCode::bootstrap_failed;
  };
  std::string problem;
  auto pmix = load_pmix(library, problem);
  if (pmix == nullptr) return say("this process was started through PMIx, but " + problem);
  if (users().ever != 0 && users().now == 0) return say(kOneJob);
  pmix_proc_t me{};
  if (const auto done = pmix->init(&me, nullptr, 0); done != PMIX_SUCCESS) {
    return say(
        fmt::format("the PMIx server of PMIX_NAMESPACE and PMIX_RANK does not answer: {}. If this program "
                    "inherited the variables of a launcher that did not start it, unset them or set "
                    "AQUEDUCT_LAUNCHER=alone; if the launcher has another version of PMIx than {} ({}), name "
                    "its library with AQUEDUCT_PMIX_LIBRARY",
                    pmix->text(done), pmix->version(), pmix->file));
  }
  auto space = std::make_unique<Pmix>(pmix, me, timeout, report, users().ever);
  if (!space->look_around()) {
    pmix->finalize(nullptr, 0);
    return say("the PMIx server does not say how many processes this job has (PMIX_JOB_SIZE)");
  }
  ++users().ever;
  ++users().now;
  return over(std::move(space));
}

std::string describe_pmix(const std::string& library) {
  std::string problem;
  const auto pmix = load_pmix(library, problem);
  return pmix == nullptr ? problem : fmt::format("{} ({})", pmix->version(), pmix->file);
}

}  // namespace aqueduct::bootstrap
