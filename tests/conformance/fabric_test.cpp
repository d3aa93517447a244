#include "tests/conformance/fabric_test.hpp"

#include "runtime/builder.hpp"
#include "tests/conformance/children.hpp"
#include "tests/conformance/launcher_run.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/rank_process.hpp"
#include "tests/conformance/shared.hpp"
#include "tools/launch/server.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string_view>

namespace aqueduct::conformance {

namespace {

// Chosen: other ranks' failures can be useful, but hundreds of them are not.
constexpr int kMostReports = 20;
constexpr std::chrono::seconds kAfterFirstFailure{10};

/// The network that a fabric supplies, with a job on it.
class FarNetwork {
 public:
  FarNetwork(const Fabric& fabric, Rank ranks, const Config& config)
      : config_(config), log_(config, kNoRank), ranks_(ranks) {
    process_ = {
        &config_, &log_, /*job=*/1, ranks, std::vector<Rank>(ranks), std::vector<std::uint32_t>(ranks)};
    std::iota(process_.mine.begin(), process_.mine.end(), Rank{0});
    network_ = fabric.network(process_);
  }
  Result<Job> build() {
    if (!network_) return network_.status();
    return runtime::build_in_process(ranks_, config_, **network_);
  }

 private:
  const Config& config_;
  core::Log log_;
  Rank ranks_;
  core::Process process_;
  Result<std::unique_ptr<core::Network>> network_ = ErrorCode::closed;
};

/// What the processes of one launch do, and how the result is judged.
class Launched {
 public:
  Launched(const Fabric& fabric, const Launch& launch, const Body& body, std::string where)
      : fabric_(fabric), launch_(launch), body_(body), where_(std::move(where)) {
    const Rank processes = fabric.process_each() ? launch.ranks : std::min(fabric.processes, launch.ranks);
    for (Rank i = 0, first = 0; i < processes; ++i) {
      const Rank count = launch.ranks / processes + (i < launch.ranks % processes ? 1 : 0);
      holds_.push_back({first, count});
      first += count;
    }
    if (!fabric.one_process()) {
      server_.emplace(processes, [&](std::string_view why) {
        if (launch_.leaving.empty()) ADD_FAILURE() << where_ << "bootstrap: " << why;
      });
    }
  }

  void operator()() {
    Children children;
    for (std::uint32_t i = 0; i < holds_.size(); ++i) {
      std::string bootstrap;
      if (server_) {
        auto child = server_->child_environment(i);
        ASSERT_TRUE(child) << child.status().text();
        bootstrap = child->value;
      }
      children.start([&](std::uint32_t index) { return child_main(index, bootstrap); });
      if (server_) server_->started(i);
    }
    Children::Watch watch{std::chrono::steady_clock::now() + fabric_.limit,
                          [&](std::uint32_t i, const FailureReport& report) { failed(watch, i, report); },
                          [&](std::uint32_t i, const Ending& ending) { ended(i, ending); }};
    if (server_) {
      watch.descriptor = server_->descriptor();
      watch.readable = [&] { server_->serve(std::chrono::milliseconds(0)); };
      watch.ends = [&](std::uint32_t i) { server_->process_ended(i); };
    }
    children.wait(watch);
    if (server_) remove_leftovers();
  }

 private:
  /// Acts as a launcher does: removes what dead ranks could not. Ranks that ended well leave nothing.
  void remove_leftovers() {
    const std::string ours = "aqueduct-" + std::to_string(server_->job()) + "-";
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
      if (entry.path().filename().string().compare(0, ours.size(), ours) != 0) continue;
      if (launch_.leaving.empty() && !testing::Test::HasFailure()) {
        ADD_FAILURE() << where_ << entry.path() << " was left behind";
      }
      std::filesystem::remove(entry.path(), ignored);
    }
  }

  struct Holds {
    Rank first;
    Rank count;
  };

  int child_main(std::uint32_t index, const std::string& bootstrap) {
    if (server_) {
      server_->become_child(index);
      ::setenv(launch::Server::Child::name, bootstrap.c_str(), 1);
    }
    Config config = Config::from_environment();
    configure(fabric_, launch_, index, holds_[index].count, config);
    std::optional<FarNetwork> far;  // must outlive the job
    if (fabric_.network) far.emplace(fabric_, launch_.ranks, config);
    Result<Job> job = far                      ? far->build()
                      : !fabric_.one_process() ? Job::start(config)
                                               : Job::in_process(launch_.ranks, config);
    return run_ranks(job, launch_, body_, where_);
  }

  void failed(Children::Watch& watch, std::uint32_t index, const FailureReport& report) {
    failed_.insert(failed_.end(), index);
    // Others may wait in vain for a rank that has failed, so the remaining time is cut.
    watch.deadline = std::min(watch.deadline, std::chrono::steady_clock::now() + kAfterFirstFailure);
    if (++reports_ <= kMostReports) {
      ADD_FAILURE_AT(report.file.c_str(), report.line) << report.text;
    } else if (reports_ == kMostReports + 1) {
      ADD_FAILURE() << where_ << "… and more";
    }
  }

  void ended(std::uint32_t index, const Ending& ending) {
    const auto [first, count] = holds_[index];
    const bool has_failed = std::ranges::find(failed_, index) != failed_.end();
    const bool on_purpose = std::ranges::any_of(
        launch_.leaving, [&, begin = first, end = first + count](Rank r) { return begin <= r && r < end; });
    if (ending.in_time &&
        (ending.status == 0 || on_purpose || (has_failed && ending.status == kFailed << 8))) {
      return;
    }
    std::string who = count == 1 ? "rank " + std::to_string(first)
                                 : "the process of ranks " + std::to_string(first) + " to " +
                                       std::to_string(first + count - 1);
    ADD_FAILURE() << where_ << who << ' ' << describe_ending(ending)
                  << (ending.in_time ? ""
                      : reports_ > 0 ? ", as the first failure was 10 s ago"
                                     : ", as its " + std::to_string(fabric_.limit.count()) + " s are over");
  }

  const Fabric& fabric_;
  const Launch& launch_;
  const Body& body_;
  const std::string where_;
  std::vector<Holds> holds_;
  std::optional<launch::Server> server_;
  std::vector<std::uint32_t> failed_;
  int reports_ = 0;
};

}  // namespace

std::string FabricTest::where() const {
  const auto* about = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(about->test_suite_name()) + '.' + about->name() + " (fabric " + fabric().name +
         ", --seed " + std::to_string(fabric().seed) + "), ";
}

void FabricTest::SetUp() {
  // What a launcher's ranks need is prepared where they run.
  if (!fabric().prepare || !fabric().launcher.empty()) return;
  if (const std::string why = fabric().prepare(); !why.empty()) GTEST_SKIP() << why;
}

void FabricTest::run(const Launch& launch, const Body& body) {
  const int as_rank = program_selection().as_rank;
  if (++launches_ == as_rank) std::exit(run_as_rank(fabric(), launch, body, where()));
  if (as_rank != 0) return;  // another launch of the same case
  if (launch.ranks > fabric().most_ranks) {
    GTEST_SKIP() << "needs " << launch.ranks << " ranks, " << fabric().name << " has at most "
                 << fabric().most_ranks;
  }
  if (fabric().launcher.empty()) return Launched(fabric(), launch, body, where())();
  // Launchers end a job when one of its processes dies, so survivors cannot be looked at.
  if (!launch.leaving.empty()) GTEST_SKIP() << "a rank dies, and then its launcher ends the job";
  // A SharedCount is memory that forked ranks inherit. A launcher's ranks do not, and may be on other hosts.
  if (SharedCount::alive() > 0) GTEST_SKIP() << "the ranks share memory without the library";
  run_by_launcher(fabric(), launch, where(), launches_);
}

void FabricTest::run_alone(const std::function<void(const Config&)>& body) {
  if (program_selection().as_rank != 0) return;
  Children children;
  children.start([&](std::uint32_t) {
    Config config = Config::from_environment();
    configure(fabric(), {}, /*process=*/0, 1, config);
    body(config);
    return HasFailure() ? kFailed : 0;
  });
  Children::Watch watch{std::chrono::steady_clock::now() + fabric().limit,
                        [&](std::uint32_t, const FailureReport& report) {
                          ADD_FAILURE_AT(report.file.c_str(), report.line) << report.text;
                        },
                        [&](std::uint32_t, const Ending& ending) {
                          if (ending.in_time && (ending.status == 0 || HasFailure())) return;
                          ADD_FAILURE() << where() << "the child " << describe_ending(ending);
                        }};
  children.wait(watch);
}

std::vector<Rank> FabricTest::team_sizes(Rank most) const {
  std::vector<Rank> sizes;
  for (Rank size = 1; size <= most; ++size) {
    if (!fabric().brief || size <= 3 || size == most) sizes.push_back(size);
  }
  return sizes;
}

std::uint64_t FabricTest::seed() const {
  std::uint64_t seed = mix(fabric().seed);
  const std::string_view name = testing::UnitTest::GetInstance()->current_test_info()->name();
  for (const char c : name) seed = mix(seed ^ static_cast<unsigned char>(c));
  return seed;
}

std::string fabric_name(const testing::TestParamInfo<Fabric>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace aqueduct::conformance
