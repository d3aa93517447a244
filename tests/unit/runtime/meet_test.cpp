// The first exchange of a job, with a second process whose contribution the test supplies.

#include <aqueduct/version.hpp>

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/barrier_shape.hpp"
#include "coll/tune/coll_settings.hpp"
#include "examples/own_broadcast/greedy_tree.hpp"
#include "runtime/layers.hpp"
#include "runtime/start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace aqueduct::runtime {
namespace {

using testing::HasSubstr;

/// Process 0 of two, the other of which contributes what the test supplies.
class WithAnother final : public bootstrap::Bootstrap {
 public:
  explicit WithAnother(Blob other) : other_(std::move(other)) {}
  std::string_view launcher() const noexcept override { return "test"; }
  std::uint32_t process() const noexcept override { return 0; }
  std::uint32_t processes() const noexcept override { return 2; }
  std::uint64_t job() const noexcept override { return 1; }
  Result<std::vector<Blob>> exchange(std::span<const std::byte> mine) override {
    return std::vector<Blob>{{mine.begin(), mine.end()}, other_};
  }
  void poll_losses(const std::function<void(std::uint32_t)>&) noexcept override {}
  void leave() noexcept override {}
  void abort(int, std::string_view) noexcept override {}

 private:
  const Blob other_;
};

/// The only process of a job: records what it contributes.
class Eavesdropper final : public bootstrap::Bootstrap {
 public:
  std::string_view launcher() const noexcept override { return "test"; }
  std::uint32_t process() const noexcept override { return 0; }
  std::uint32_t processes() const noexcept override { return 1; }
  std::uint64_t job() const noexcept override { return 1; }
  Result<std::vector<Blob>> exchange(std::span<const std::byte> mine) override {
    said.assign(mine.begin(), mine.end());
    return std::vector<Blob>{said};
  }
  void poll_losses(const std::function<void(std::uint32_t)>&) noexcept override {}
  void leave() noexcept override {}
  void abort(int, std::string_view) noexcept override {}

  Blob said;
};

/// The introduction that a process with these settings sends.
Blob introduction_of(const Config& config) {
  Job::Impl job{config};
  auto bootstrap = std::make_unique<Eavesdropper>();
  const Eavesdropper& heard = *bootstrap;
  job.bootstrap = std::move(bootstrap);
  EXPECT_TRUE(meet(job, 1));
  return heard.said;
}

struct Outcome {
  Status status;
  std::string said;
};
Outcome meet_one_that_says(const Blob& other) {
  Job::Impl job{Config()};
  job.bootstrap = std::make_unique<WithAnother>(other);
  testing::internal::CaptureStderr();
  const Status status = meet(job, 1);
  return {status, testing::internal::GetCapturedStderr()};
}

TEST(Meet, NamesBothVersionsThoughTheOtherSaysLessOfItself) {
  BlobWriter older;
  older.number(20304);
  const Outcome outcome = meet_one_that_says(older.blob());
  EXPECT_EQ(outcome.status.code(), ErrorCode::version_mismatch);
  EXPECT_THAT(outcome.said,
              HasSubstr("process 1 runs Aqueduct 2.3.4 and this one " + std::string(library_version_text())));
}

TEST(Meet, RefusesWhatItCannotRead) {
  BlobWriter cut;
  cut.number(library_version());
  cut.number(1);
  const Outcome outcome = meet_one_that_says(cut.blob());
  EXPECT_EQ(outcome.status.code(), ErrorCode::bootstrap_failed);
  EXPECT_THAT(outcome.said, HasSubstr("what process 1 says of itself cannot be read"));
}

/// A value of a setting that differs from its default.
std::string other_value(const SettingInfo& info) {
  switch (info.type) {
    case SettingType::choice: return std::string(info.choices.substr(info.choices.rfind('|') + 1));
    case SettingType::text:
      // AQUEDUCT_COLL_BROADCAST and its siblings name an algorithm.
      for (const SettingInfo& forced : coll::algorithm_settings()) {
        if (forced.name != info.name) continue;
        for (const coll::Algorithm* algorithm : coll::all_algorithms()) {
          if (algorithm->operation == coll::carried_out_as(coll::operation_of(forced)))
            return std::string(algorithm->name);
        }
      }
      if (info.name == "coll_tree") return "flat";
      return info.name == "conduit" ? "smp" : "other";
    case SettingType::boolean: return info.default_value == "on" ? "off" : "on";
    case SettingType::duration: return std::to_string(info.least + 5) + "ns";
    default: return std::to_string(info.least + 5);
  }
}

// The tables of settings say which must agree: SettingInfo::same_on_all_ranks.
TEST(Meet, ComparesEachSettingThatMustAgreeAndNoOther) {
  std::set<std::string_view> compared;
  for (const SettingInfo& info : layer_settings()) {
    SCOPED_TRACE(info.name);
    const bool must_agree = info.same_on_all_ranks;
    if (must_agree) compared.insert(info.name);
    if (info.name == "log") continue;  // a changed log level would hide the output that is checked
    Config other;
    ASSERT_TRUE(other.set(info.name, other_value(info))) << other_value(info);
    ASSERT_NE(other.text(info.name), Config().text(info.name));
    const Outcome outcome = meet_one_that_says(introduction_of(other));
    EXPECT_EQ(outcome.status.code(), must_agree ? ErrorCode::bad_setting : ErrorCode::ok) << outcome.said;
    if (!must_agree) continue;
    EXPECT_THAT(outcome.said,
                HasSubstr("process 1 has other settings than this one: " + std::string(info.environment) +
                          "=" + other.text(info.name) + ", here " + Config().text(info.name) + ". "));
  }
  for (const char* name :
       {"conduit", "near", "segments", "credits", "atomics", "coll_counters", "coll_scratch"})
    EXPECT_TRUE(compared.contains(name)) << name << " must be equal on all ranks";
}

// A rank without it would wait for messages that the others do not send.
TEST(Meet, RefusesRanksThatAddOtherAlgorithms) {
  Config other;
  ASSERT_TRUE(other.add_algorithm(example::greedy_tree()));
  const Outcome outcome = meet_one_that_says(introduction_of(other));
  EXPECT_EQ(outcome.status.code(), ErrorCode::bad_setting);
  EXPECT_THAT(outcome.said,
              HasSubstr("process 1 has other settings than this one: algorithms that the program adds "
                        "(Config::add_algorithm): broadcast greedy-tree (delay 1 to 64, usually 4), steps "));
  EXPECT_THAT(outcome.said, HasSubstr(", here none. "));
}

/// The tree for a delay that the functions find in their context.
CollectiveAlgorithm tree_by_context(std::uint32_t delay) {
  CollectiveAlgorithm made = example::greedy_tree();
  made.parameters.clear();
  made.context = std::make_shared<const std::uint32_t>(delay);
  made.cost = [](const AlgorithmCall& call) noexcept { return AlgorithmCost{.messages = call.ranks - 1}; };
  made.build = [](const AlgorithmCall& call, Rank member, StepList& steps) noexcept {
    AlgorithmCall with = call;
    with.parameters[0] = *static_cast<const std::uint32_t*>(call.context);
    example::greedy_tree().build(with, member, steps);
  };
  return made;
}

// What functions read of a context must be the same on all ranks.
TEST(Meet, RefusesRanksWhoseAlgorithmsHaveAnotherContext) {
  for (const std::uint32_t delay : {4u, 1u}) {
    Config other;
    ASSERT_TRUE(other.add_algorithm(tree_by_context(delay)));
    Job::Impl job{Config()};
    ASSERT_TRUE(job.config.add_algorithm(tree_by_context(4)));
    job.bootstrap = std::make_unique<WithAnother>(introduction_of(other));
    testing::internal::CaptureStderr();
    const Status status = meet(job, 1);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(status.code(), delay == 4 ? ErrorCode::ok : ErrorCode::bad_setting) << said;
    if (delay != 4) {
      EXPECT_THAT(said, HasSubstr("broadcast greedy-tree, steps "));
    }
  }
}

TEST(Meet, ShowsWhereLongValuesDiffer) {
  std::string same = "parents=-";
  for (int i = 0; i < 44; ++i) same += ",0";
  same += ",1";
  Config other;
  ASSERT_TRUE(other.set("coll_tree", same + "1"));
  Job::Impl job{Config()};
  ASSERT_TRUE(job.config.set("coll_tree", same + "2"));
  job.bootstrap = std::make_unique<WithAnother>(introduction_of(other));
  testing::internal::CaptureStderr();
  EXPECT_EQ(meet(job, 1).code(), ErrorCode::bad_setting);
  const std::string end = same.substr(same.size() - 20);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("AQUEDUCT_COLL_TREE=…" + end + "1 (100 bytes), here …" + end + "2 (100 bytes). "));
}

}  // namespace
}  // namespace aqueduct::runtime
