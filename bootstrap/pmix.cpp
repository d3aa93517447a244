#include "bootstrap/pmix.hpp"

#include "bootstrap/key_value.hpp"
#include "bootstrap/pmix_events.hpp"
#include "bootstrap/pmix_library.hpp"
#include "bootstrap/pmix_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

namespace aqueduct::bootstrap {
namespace {

using Value = PmixRequest::Value;

constexpr std::string_view kCollect = "collect the values of all processes";

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

class Pmix final : public KeyValueSpace {
 public:
  Pmix(std::shared_ptr<const PmixLibrary> pmix, const pmix_proc_t& me, std::chrono::milliseconds timeout,
       Report report, std::uint32_t use)
      : pmix_(std::move(pmix)), me_(me), timeout_(timeout), report_(std::move(report)), use_(use) {}

  /// Asks PMIx for the size of the job and this process's neighbours. False: PMIx does not say how large the job is.
  bool look_around() {
    const Value size = lookup(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    if (const auto* const number = std::get_if<std::uint32_t>(&size)) processes_ = *number;
    if (processes_ <= me_.rank) return false;
    const Value node = lookup(me_.rank, PMIX_NODEID);
    if (const auto* const number = std::get_if<std::uint32_t>(&node)) host_ = fmt::format("node {}", *number);
    neighbour_.assign(processes_, false);
    const Value peers = lookup(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    if (const auto* const list = std::get_if<std::string>(&peers)) note_neighbours(*list);
    events_.emplace(pmix_, me_, processes_);
    return true;
  }

  /// Whether PMIx has answered the latest question.
  bool has_answered() const noexcept { return last_.has_value(); }

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
    const auto request = std::make_shared<PmixRequest>();
    pmix_info_t& collect = request->argument = info_of(PMIX_COLLECT_DATA);
    collect.value.type = PMIX_BOOL;
    collect.value.data.flag = true;
    void* const reference = PmixRequest::share(request);
    const auto begun = pmix_->fence_nb(nullptr, 0, &collect, 1, PmixRequest::ended, reference);
    if (begun != PMIX_SUCCESS) {
      PmixRequest::take_back(reference);
      return begun == PMIX_OPERATION_SUCCEEDED ? Status{} : fail(kCollect, begun);
    }
    const auto status = await(*request);
    if (!status) {
      if (launcher_is_gone()) return fail(ErrorCode::bootstrap_failed, kLauncherEnded);
      return fail(ErrorCode::timed_out, waited_in_vain(me_.rank, timeout_, others_of(processes_)));
    }
    return *status == PMIX_SUCCESS ? Status{} : fail(kCollect, *status);
  }

  Result<std::vector<std::byte>> get(std::uint32_t process, std::string_view name) override {
    Value value = lookup(process, name, /*wait=*/true);
    if (auto* const bytes = std::get_if<std::vector<std::byte>>(&value)) return std::move(*bytes);
    if (last_) {
      return fail(
          ErrorCode::bootstrap_failed,
          fmt::format(
              "PMIx has no value {} of process {}: {}; has it ended already, or has it another version "
              "of Aqueduct?",
              name, process, pmix_->text(*last_)));
    }
    if (launcher_is_gone()) return fail(ErrorCode::bootstrap_failed, kLauncherEnded);
    return fail(ErrorCode::timed_out,
                waited_in_vain(me_.rank, timeout_, fmt::format("the values of process {}", process)));
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
  /// Nothing, with its reason in `last_`, if PMIx has no such value. PMIx_Get itself would wait without a limit for the
  /// value of a process that has died: servers do not all heed PMIX_TIMEOUT.
  Value lookup(pmix_rank_t process, std::string_view key, bool wait = false) {
    const auto request = std::make_shared<PmixRequest>();
    request->whom = me_;
    request->whom.rank = process;
    request->key = key;
    pmix_info_t& info = request->argument = info_of(wait ? PMIX_TIMEOUT : PMIX_OPTIONAL);
    if (wait) {
      info.value.type = PMIX_INT;
      info.value.data.integer = static_cast<int>(timeout_.count() / 1000 + 1);  // later than this end
    } else {
      info.value.type = PMIX_BOOL;
      info.value.data.flag = true;
    }
    void* const reference = PmixRequest::share(request);
    last_ = pmix_->get_nb(&request->whom, request->key.c_str(), &info, 1, PmixRequest::found, reference);
    if (last_ != PMIX_SUCCESS) {
      PmixRequest::take_back(reference);
      return {};
    }
    last_ = await(*request);
    if (last_ == PMIX_ERR_TIMEOUT) last_.reset();
    return last_ == PMIX_SUCCESS ? std::move(request->value) : Value{};
  }
  /// Nothing: the launcher has ended, or the time is over.
  std::optional<pmix_status_t> await(PmixRequest& request) {
    return request.wait(PmixRequest::Clock::now() + timeout_, [this] { return launcher_is_gone(); });
  }
  bool launcher_is_gone() const { return events_ && events_->launcher_is_gone(); }

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
  std::optional<pmix_status_t> last_;  ///< of `lookup`; nothing: PMIx did not answer
  bool told_of_end_ = false;
};

/// PMIx_Init has no form that does not wait, so a thread of its own waits for it. Nothing: the time is over. If it
/// succeeds later, that thread undoes it.
std::optional<pmix_status_t> init(const std::shared_ptr<const PmixLibrary>& pmix, pmix_proc_t& me,
                                  std::chrono::milliseconds timeout) {
  const auto request = std::make_shared<PmixRequest>();
  try {
    std::thread([pmix, request] {
      const auto done = pmix->init(&request->whom, nullptr, 0);
      if (!request->tell(done) && done == PMIX_SUCCESS) pmix->finalize(nullptr, 0);
    }).detach();
  } catch (const std::system_error&) {
    return PMIX_ERR_OUT_OF_RESOURCE;
  }
  const auto status = request->wait(PmixRequest::Clock::now() + timeout, [] { return false; });
  if (status) me = request->whom;
  return status;
}

}  // namespace

Result<std::unique_ptr<Bootstrap>> from_pmix(const std::string& library, std::chrono::milliseconds timeout,
                                             Report report) {
  const auto say = [&report](const std::string& why) {
    if (report) report(why);
    return ErrorCode::bootstrap_failed;
  };
  const auto no_answer = [&] {
    static_cast<void>(say(fmt::format(
        "the PMIx server of PMIX_NAMESPACE and PMIX_RANK has not answered in {} ms: has the launcher "
        "ended, or has a process of this job? If it needs longer, set AQUEDUCT_BOOTSTRAP_TIMEOUT higher",
        timeout.count())));
    return ErrorCode::timed_out;
  };
  std::string problem;
  auto pmix = load_pmix(library, problem);
  if (pmix == nullptr) return say("this process was started through PMIx, but " + problem);
  if (users().ever != 0 && users().now == 0) return say(kOneJob);
  pmix_proc_t me{};
  const auto done = init(pmix, me, timeout);
  if (!done) {
    return no_answer();
  }
  if (*done != PMIX_SUCCESS) {
    return say(
        fmt::format("the PMIx server of PMIX_NAMESPACE and PMIX_RANK does not answer: {}. If this program "
                    "inherited the variables of a launcher that did not start it, unset them or set "
                    "AQUEDUCT_LAUNCHER=alone; if the launcher has another version of PMIx than {} ({}), name "
                    "its library with AQUEDUCT_PMIX_LIBRARY",
                    pmix->text(*done), pmix->version(), pmix->file));
  }
  auto space = std::make_unique<Pmix>(pmix, me, timeout, report, users().ever);
  if (!space->look_around()) {
    if (!space->has_answered()) return no_answer();  // nor would it answer `finalize`
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
