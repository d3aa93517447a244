#include "tests/conformance/launcher_run.hpp"

#include "tests/conformance/launcher_process.hpp"
#include "tests/conformance/rank_line.hpp"
#include "tests/conformance/rank_process.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <vector>

#include <unistd.h>

namespace aqueduct::conformance {

namespace {

// Chosen: the last lines of output help to understand a launcher that fails.
constexpr std::size_t kLinesToQuote = 15;
constexpr int kMostFailures = 20;
constexpr std::chrono::seconds kAfterFailure{10};
// Chosen: a rank whose launcher cannot end it ends itself, after the kit has given up the launcher.
constexpr std::chrono::seconds kAfterLimit{20};

/// The command line of a process that runs the case as a rank.
std::string command_for(const Fabric& fabric, const Launch& launch, int number) {
  const Selection& mine = program_selection();
  const auto* about = testing::UnitTest::GetInstance()->current_test_info();
  std::vector<std::string> words{
      std::filesystem::read_symlink("/proc/self/exe"),
      "--as-rank=" + std::to_string(number),
      "--fabric=" + fabric.name,
      "--ranks=" + std::to_string(mine.most_ranks),
      "--seed=" + std::to_string(mine.seed),
      "--limit=" + std::to_string(mine.limit.count()),
      "--thorough=" + std::to_string(mine.thorough),
      std::string("--gtest_filter=") + about->test_suite_name() + '.' + about->name()};
  if (!mine.conduit.empty()) words.push_back("--conduit=" + mine.conduit);
  if (!mine.plugin.empty()) words.push_back("--plugin=" + mine.plugin);
  if (mine.failing) words.emplace_back("--failing");
  std::string command = with_ranks(fabric.launcher, launch.ranks);
  for (const std::string& word : words) command += ' ' + quoted_for_sh(word);
  return command;
}

/// Judges what the launcher and the ranks say of one launch.
class Judge {
 public:
  Judge(const Fabric& fabric, const Launch& launch, const std::string& where)
      : fabric_(fabric),
        where_(where),
        ended_(launch.ranks),
        deadline_(LauncherProcess::Clock::now() + fabric.limit) {}

  const LauncherProcess::Clock::time_point& deadline() const noexcept { return deadline_; }

  void take(std::string_view text) {
    const auto line = parse_line(text);
    if (!line) return quote(text);
    switch (line->kind) {
      case RankLine::Kind::failed: return failed(line->report);
      case RankLine::Kind::skipped: skipped_ = line->report.text; return;
      case RankLine::Kind::ended:
        if (line->rank < ended_.size()) ended_[line->rank] = true;
    }
  }

  void conclude(const Ending& ending, const std::string& command) {
    if (!ending.in_time) {
      const std::string why = cut_ ? "as the first failure was 10 s ago"
                                   : "as its " + std::to_string(fabric_.limit.count()) + " s are over";
      ADD_FAILURE() << where_ << "the launcher was still running and was ended, " << why << '.'
                    << details(command);
      return;
    }
    // A failed rank exits with kFailed, and a launcher exits as its first failed process does.
    if (failures_ > 0 && ending.status == kFailed << 8) return;
    if (ending.status == 0 && missing().empty()) return;
    // The host of a rank lacks something that the case needs, as SetUp found there.
    if (ending.status == 0 && !skipped_.empty()) GTEST_SKIP() << skipped_;
    ADD_FAILURE() << where_ << "the launcher " << describe_ending(ending) << '.' << details(command);
  }

 private:
  /// Passes on a line of other output, and keeps it for the report.
  void quote(std::string_view text) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
    last_lines_.emplace_back(text);
    if (last_lines_.size() > kLinesToQuote) last_lines_.pop_front();
  }

  void failed(const FailureReport& report) {
    // Others may wait in vain for a rank that has failed, so the remaining time is cut.
    const auto cut = LauncherProcess::Clock::now() + kAfterFailure;
    if (failures_ == 0 && cut < deadline_) {
      deadline_ = cut;
      cut_ = true;
    }
    if (++failures_ <= kMostFailures) ADD_FAILURE_AT(report.file.c_str(), report.line) << report.text;
    if (failures_ == kMostFailures + 1) ADD_FAILURE() << where_ << "… and more";
  }

  std::string missing() const {
    std::string ranks;
    for (std::size_t rank = 0; rank < ended_.size(); ++rank) {
      if (!ended_[rank]) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
    }
    return ranks;
  }

  std::string details(const std::string& command) const {
    std::string text;
    if (const std::string ranks = missing(); !ranks.empty())
      text += " Ranks that have not ended well: " + ranks + '.';
    text += "\nThe command: " + command;
    for (const std::string& line : last_lines_) text += "\n  " + line;
    return text;
  }

  const Fabric& fabric_;
  const std::string& where_;
  std::vector<bool> ended_;  // by rank
  LauncherProcess::Clock::time_point deadline_;
  bool cut_ = false;  // by the first failure
  int failures_ = 0;
  std::string skipped_;  // why a rank cannot run the case
  std::deque<std::string> last_lines_;
};

}  // namespace

void run_by_launcher(const Fabric& fabric, const Launch& launch, const std::string& where, int number) {
  const std::string command = command_for(fabric, launch, number);
  Judge judge(fabric, launch, where);
  LauncherProcess launcher(command, [&judge](std::string_view line) { judge.take(line); });
  judge.conclude(launcher.wait(judge.deadline()), command);
}

int run_as_rank(const Fabric& fabric, const Launch& launch, const Body& body, const std::string& where) {
  ::alarm(static_cast<unsigned>((fabric.limit + kAfterLimit).count()));
  Config config = Config::from_environment();
  configure(fabric, launch, /*process=*/0, /*endpoints=*/1, config);
  Result<Job> job = Job::start(config);
  const Rank me = job ? job->endpoint().rank() : kNoRank;
  if (job && job->ranks() != launch.ranks) {
    ADD_FAILURE() << where << "the launcher has made a job of " << job->ranks() << " ranks, of "
                  << launch.ranks << " that the case needs. Aqueduct takes the launcher for `"
                  << job->launcher() << '`';
    return kFailed;
  }
  const int code = run_ranks(job, launch, body, where);
  if (code == 0) tell_kit({RankLine::Kind::ended, {}, me});
  return code;
}

void TellingListener::OnTestPartResult(const testing::TestPartResult& result) {
  if (!result.failed() && !result.skipped()) return;
  const char* const file = result.file_name();
  const auto kind = result.failed() ? RankLine::Kind::failed : RankLine::Kind::skipped;
  tell_kit({kind, {file != nullptr ? file : "", result.line_number(), result.message()}, kNoRank});
  has_told_ = true;
}

std::string with_ranks(std::string launcher, Rank ranks) {
  const std::string place = kRanksPlace;
  const std::string number = std::to_string(ranks);
  for (std::size_t at = 0; (at = launcher.find(place, at)) != std::string::npos; at += number.size()) {
    launcher.replace(at, place.size(), number);
  }
  return launcher;
}

}  // namespace aqueduct::conformance
