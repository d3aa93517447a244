#include "runtime/far_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::runtime {
namespace {

using core::Wire;
using testing::HasSubstr;

core::Usability fast(const Config&) { return {true, "a card", Wire::hardware}; }
core::Usability plain(const Config&) { return {true, "a socket", Wire::sockets}; }
core::Usability layered(const Config&) { return {true, "a provider over tcp", Wire::sockets_of_library}; }
core::Usability unusable(const Config&) { return {false, "there is no device"}; }

/// Conduits that are never opened.
class Shelf {
 public:
  Shelf& add(const char* name, core::Usability (*probe)(const Config&), std::uint8_t preference = 0,
             bool crosses_hosts = true) {
    auto entry = std::make_unique<core::ConduitEntry>();
    entry->name = name;
    entry->crosses_hosts = crosses_hosts;
    entry->preference = preference;
    entry->probe = probe;
    all_.push_back({name, entry.get(), {}, {}, ErrorCode::ok});
    entries_.push_back(std::move(entry));
    return *this;
  }
  Shelf& add_broken(const char* name, const char* problem) {
    all_.push_back({name, nullptr, "/x.so", problem, ErrorCode::bad_setting});
    return *this;
  }
  /// `others` is what other processes offer in addition to what is offered here.
  FarChoice choose(std::vector<std::string> others = {}) const {
    Circumstances job{.one_host = false, .one_process = false};
    job.ask_all = [&](const std::string& mine) -> Result<std::vector<std::string>> {
      std::vector<std::string> all{mine};
      all.insert(all.end(), others.begin(), others.end());
      return all;
    };
    auto choice = choose_far(all_, Config(), job);
    EXPECT_TRUE(choice);
    return choice ? *choice : FarChoice{};
  }

 private:
  std::vector<std::unique_ptr<core::ConduitEntry>> entries_;
  std::vector<conduits::Available> all_;
};

std::string name_of(const FarChoice& choice) { return choice.entry != nullptr ? choice.entry->name : ""; }

std::string why_not(const FarChoice& choice, const std::string& name) {
  for (const PassedOver& one : choice.passed_over) {
    if (one.name == name) return one.why;
  }
  return "(not passed over)";
}

TEST(FarChoice, GoesByTheKindOfWire) {
  Shelf shelf;
  shelf.add("layered", layered, 99).add("plain", plain, 5).add("fast", fast).add("other", plain, 9);
  const FarChoice choice = shelf.choose();
  EXPECT_EQ(name_of(choice), "fast");
  EXPECT_THAT(choice.why, HasSubstr("a network card"));
  EXPECT_THAT(why_not(choice, "plain"), HasSubstr("fast is preferred, over a network card"));
  EXPECT_EQ(choice.passed_over.size(), 3u);
}

TEST(FarChoice, TakesTheSystemsSocketsBeforeThoseBelowALibrary) {
  EXPECT_EQ(name_of(Shelf().add("layered", layered, 99).add("plain", plain).choose()), "plain");
}

TEST(FarChoice, GoesByPreferenceOverTheSameWireAndByNameAmongEquals) {
  Shelf shelf;
  const FarChoice choice = shelf.add("ofi", fast, 10).add("ucx", fast, 20).add("ucx2", fast, 20).choose();
  EXPECT_EQ(name_of(choice), "ucx");
  EXPECT_THAT(why_not(choice, "ofi"), HasSubstr("ucx is preferred"));
}

TEST(FarChoice, PassesOverWhatCannotBeUsedAndSaysWhy) {
  Shelf shelf;
  shelf.add("ibv", unusable, 30)
      .add("smp", plain, 0, /*crosses_hosts=*/false)
      .add_broken("ofi", "no libfabric.so.1");
  const FarChoice none = shelf.choose();
  EXPECT_EQ(none.entry, nullptr);
  EXPECT_EQ(why_not(none, "ibv"), "there is no device");
  EXPECT_EQ(why_not(none, "smp"), "stays on one host");
  EXPECT_EQ(why_not(none, "ofi"), "no libfabric.so.1");
  EXPECT_EQ(name_of(shelf.add("udp", plain).choose()), "udp");
}

TEST(FarChoice, TakesOnlyWhatAllProcessesHaveOverTheSameWire) {
  Shelf shelf;
  shelf.add("ibv", fast, 30).add("ofi", fast, 10).add("udp", plain);
  EXPECT_EQ(name_of(shelf.choose({"ibv/2/30 ofi/2/10 udp/1/0 "})), "ibv");
  const FarChoice without = shelf.choose({"ibv/2/30 ofi/2/10 udp/1/0 ", "ofi/0/10 udp/1/0 "});
  EXPECT_EQ(name_of(without), "udp");
  EXPECT_THAT(why_not(without, "ibv"), HasSubstr("not alike for process 2"));
  EXPECT_THAT(why_not(without, "ofi"), HasSubstr("not alike for process 2"));
  EXPECT_EQ(name_of(shelf.choose({"libv/2 ofi/22 "})), "");
}

TEST(FarChoice, DoesNotDependOnTheOrderInWhichConduitsAreFound) {
  EXPECT_EQ(name_of(Shelf().add("one", plain, 3).add("two", plain, 3).choose()), "one");
  EXPECT_EQ(name_of(Shelf().add("two", plain, 3).add("one", plain, 3).choose()), "one");
}

TEST(FarChoice, FailsAsTheQuestionDoes) {
  Circumstances job;
  job.ask_all = [](const std::string&) -> Result<std::vector<std::string>> { return ErrorCode::timed_out; };
  EXPECT_EQ(choose_far({}, Config(), job).status().code(), ErrorCode::timed_out);
}

}  // namespace
}  // namespace aqueduct::runtime
