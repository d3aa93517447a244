// What a job agrees on about tuning when it starts.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/tune/tuning_file.hpp"
#include "core/network_profile.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace aqueduct::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr Rank kRanks = 3;
constexpr std::uint64_t kBytes = 1024;

coll::TuningPlace loop_here() { return {coll::machine_kind(), "loop"}; }

/// The rules would take another.
coll::Decision chain_for_broadcasts() {
  coll::Decision one;
  one.key.operation = Collective::broadcast;
  one.key.kind = coll::TeamKind::host;
  one.key.crowded = coll::Crowding::unknown;  // whatever machine this is
  one.key.ranks = kRanks;
  one.key.size = coll::size_class(kBytes);
  one.best = {&coll::kBroadcastChain, {2, 0, 0}, 5'000'000};
  one.samples = 40;
  return one;
}

class JobTuning : public testing::Test {
 protected:
  struct Heard {
    std::vector<std::string> why;  ///< [rank] Team::explain
    std::vector<std::uint64_t> hashes;
    std::string child;
    std::string said;
  };

  Heard run(std::string_view tuning, std::string_view choice = "auto", std::string_view profile = "",
            std::string_view conduit = "loop") {
    Config config;
    EXPECT_TRUE(config.set("conduit", conduit));
    EXPECT_TRUE(config.set("near", "off"));
    EXPECT_TRUE(config.set("segment_bytes", "64K"));
    EXPECT_TRUE(config.set("coll_tuning", tuning));
    EXPECT_TRUE(config.set("coll_choice", choice));
    EXPECT_TRUE(config.set("network_profile", profile));
    Heard heard;
    testing::internal::CaptureStderr();
    {
      auto job = Job::in_process(kRanks, config);
      EXPECT_TRUE(job) << job.status().text();
      for (Rank rank = 0; rank < kRanks; ++rank) {
        Team& world = job->endpoint(rank).world();
        heard.why.push_back(world.explain(Collective::broadcast, kBytes));
        heard.hashes.push_back(coll::Collectives::tuning_hash(world.state()));
      }
      std::array<std::string, kRanks> children;
      job->run_each([&](Endpoint& me) {
        auto twin = me.world().dup();
        ASSERT_TRUE(twin) << twin.status().text();
        std::vector<std::byte> block(kBytes, std::byte(me.rank() == 0 ? 7 : 0));
        ASSERT_TRUE(me.wait(broadcast_nb(*twin, block)));
        EXPECT_EQ(block.back(), std::byte{7});
        children[me.rank()] = twin->explain(Collective::broadcast, kBytes);
        EXPECT_TRUE(twin->end());
      });
      heard.child = children[0];
      EXPECT_TRUE(job->finish());
    }
    heard.said = testing::internal::GetCapturedStderr();
    return heard;
  }
  std::string file() const { return coll::tuning_file(folder_.path(), loop_here()); }
  void write(const std::string& text) const { std::ofstream(file()) << text; }

  support::ScratchFolder folder_;
};

TEST_F(JobTuning, IsThatOfAFileOnAllRanksAndInNewTeams) {
  const coll::Decision one = chain_for_broadcasts();
  ASSERT_EQ(coll::save_tuning(file(), loop_here(), {&one, 1}), "");
  const Heard heard = run(folder_.path());
  for (Rank rank = 0; rank < kRanks; ++rank) {
    EXPECT_THAT(heard.why[rank], AllOf(HasSubstr("chain:segments=2"), HasSubstr("measured: 5.000 us")));
    EXPECT_EQ(heard.hashes[rank], heard.hashes[0]);
  }
  EXPECT_THAT(heard.child, HasSubstr("chain:segments=2"));
  EXPECT_EQ(heard.said, "");
}

TEST_F(JobTuning, OfTooManyDecisionsHasThoseOfItsNumberOfRanks) {
  std::vector<coll::Decision> many{chain_for_broadcasts()};
  constexpr Rank kMore = coll::TuningTable::kMostDecisions + 7;
  for (Rank ranks = 100; ranks < 100 + kMore; ++ranks) {
    many.push_back(many.front());
    many.back().key.ranks = ranks;
  }
  ASSERT_EQ(coll::save_tuning(file(), loop_here(), many), "");
  const Heard heard = run(folder_.path());
  EXPECT_THAT(heard.why[0], AllOf(HasSubstr("chain:segments=2"), HasSubstr("measured: 5.000 us")));
  EXPECT_THAT(heard.said, HasSubstr("AQUEDUCT_COLL_TUNING: 8 decisions are left out"));
}

TEST_F(JobTuning, CanBeSwitchedOff) {
  const coll::Decision one = chain_for_broadcasts();
  ASSERT_EQ(coll::save_tuning(file(), loop_here(), {&one, 1}), "");
  for (const char* const choice : {"rules", "model"}) {
    const Heard heard = run(folder_.path(), choice);
    EXPECT_THAT(heard.why[0], Not(HasSubstr("measured: ")));
    EXPECT_EQ(heard.said, "");
  }
}

TEST_F(JobTuning, WithoutAFileInTheFolderIsNone) {
  const Heard heard = run(folder_.path());
  EXPECT_THAT(heard.why[0], HasSubstr("by the rules"));
  EXPECT_EQ(heard.said, "");
}

TEST_F(JobTuning, OfAWrongFileIsNoneWithOneWarning) {
  const std::string good = coll::tuning_text(loop_here(), std::vector{chain_for_broadcasts()});
  std::string newer = good;
  newer.replace(newer.find("\"version\": 1"), 12, "\"version\": 7");
  for (const auto& [text, why] :
       {std::pair{good.substr(0, good.size() / 2), "damaged"}, std::pair{newer, "has version 7"},
        std::pair{coll::tuning_text({"elsewhere", "loop"}, {}), "another kind of machine"},
        std::pair{coll::tuning_text({coll::machine_kind(), "udp"}, {}), "of conduit udp"},
        std::pair{std::string(), "damaged"}}) {
    write(text);
    const Heard heard = run(folder_.path());
    EXPECT_THAT(heard.said, HasSubstr(why));
    EXPECT_EQ(heard.said.find("AQUEDUCT_COLL_TUNING"), heard.said.rfind("AQUEDUCT_COLL_TUNING"))
        << heard.said;
    EXPECT_THAT(heard.why[kRanks - 1], HasSubstr("by the rules"));
  }
  EXPECT_THAT(run((folder_ / "none.json").string()).said, HasSubstr("cannot be read"));
}

TEST_F(JobTuning, OfAFileWithOneWrongEntryHasTheOthers) {
  std::string text = coll::tuning_text(loop_here(), std::vector{chain_for_broadcasts()});
  const std::string entry = text.substr(text.find("    {"), text.find("\n  ]") - text.find("    {"));
  text.insert(text.find("\n  ]"), ",\n" + entry);
  text.replace(text.rfind("chain"), 5, "change");
  write(text);
  const Heard heard = run(folder_.path());
  EXPECT_THAT(heard.said, HasSubstr("1 of its entries are damaged"));
  EXPECT_THAT(heard.why[0], HasSubstr("chain:segments=2"));
}

TEST_F(JobTuning, SaysOnceThatAFolderHasNoProfile) {
  const std::string said = run("", "auto", folder_.path()).said;
  const std::string why = "has no profile of conduit loop on this host";
  EXPECT_THAT(said, HasSubstr(why));
  EXPECT_EQ(said.find(why), said.rfind(why)) << said;
}

// udp in one process goes over the loopback.
TEST_F(JobTuning, OfAnotherNetworkIsNoneWithOneWarning) {
  const std::vector<coll::Decision> one{chain_for_broadcasts()};
  const coll::TuningPlace fast{coll::machine_kind(), "udp", "25000 Mb/s, MTU 9000"};
  const coll::TuningPlace loopback{coll::machine_kind(), "udp", "loopback"};
  const std::string file = coll::tuning_file(folder_.path(), fast);
  ASSERT_EQ(coll::save_tuning(file, fast, one), "");
  const Heard other = run(folder_.path(), "auto", "", "udp");
  EXPECT_THAT(other.why[0], AllOf(HasSubstr("by the rules"), HasSubstr("reached by udp, over loopback")));
  const std::string why =
      R"(are of another network ("25000 Mb/s, MTU 9000", and this is "loopback"); tune again)";
  EXPECT_THAT(other.said, HasSubstr(why));
  EXPECT_EQ(other.said.find(why), other.said.rfind(why)) << other.said;
  ASSERT_EQ(coll::save_tuning(file, loopback, one), "");
  const Heard both = run(folder_.path(), "auto", "", "udp");
  EXPECT_THAT(both.why[0], HasSubstr("chain:segments=2"));
  EXPECT_EQ(both.said, "");
  std::filesystem::remove(file);
  ASSERT_EQ(coll::save_tuning(file, {coll::machine_kind(), "udp"}, one), "");
  const Heard older = run(folder_.path(), "auto", "", "udp");
  EXPECT_THAT(older.why[0], HasSubstr("chain:segments=2"));
  EXPECT_EQ(older.said, "");
}

/// A profile of this host that says its network, if there is one to say.
std::string profile_of(const std::string& conduit, const std::string& over) {
  return R"({"format": "aqueduct-network-profile", "version": 1, "machine": ")" + core::machine_name() +
         R"(", "conduit": ")" + conduit + R"(", "levels": {"host": {)" +
         (over.empty() ? "" : "\"over\": \"" + over + "\",") + R"(
    "injection_depth": 32, "inline_limit": 64, "peak_bytes": 8192, "rendezvous_limit": 0,
    "copy_femtoseconds_per_byte": 5, "reduce_femtoseconds_per_byte": 6, "costs": [
      {"bytes": 0, "latency_ps": 100000000, "overhead_ps": 20, "gap_ps": 3, "femtoseconds_per_byte": 400}]}}})";
}

TEST_F(JobTuning, DoesNotTakeTheProfileOfAnotherNetwork) {
  const std::string profile = (folder_ / "profile.json").string();
  const std::uint64_t none = run("", "auto", "", "udp").hashes[0];
  for (const auto& [over, is_taken] :
       {std::pair{"loopback", true}, std::pair{"", true}, std::pair{"25000 Mb/s, MTU 9000", false}}) {
    std::ofstream(profile) << profile_of("udp", over);
    const Heard heard = run("", "auto", profile, "udp");
    if (is_taken) {
      EXPECT_EQ(heard.said, "") << over;
      EXPECT_NE(heard.hashes[0], none) << over;
    } else {
      EXPECT_THAT(heard.said, HasSubstr("on this host is of another network (\"25000 Mb/s, MTU 9000\", and "
                                        "this is \"loopback\")"));
      EXPECT_EQ(heard.hashes[0], none);
    }
  }
}

TEST_F(JobTuning, KnowsTheNetworkOfAProfile) {
  const std::string profile = core::profile_file(folder_.path(), "loop", /*same_host=*/true);
  std::ofstream(profile) << profile_of("loop", "");
  const Heard heard = run("", "auto", profile);
  EXPECT_EQ(heard.said, "");
  const bool crowded = ::sysconf(_SC_NPROCESSORS_ONLN) < static_cast<long>(kRanks);
  for (Rank rank = 0; rank < kRanks; ++rank) {
    EXPECT_THAT(heard.why[rank], crowded ? HasSubstr("by the rules") : HasSubstr("predicted by replay"));
    EXPECT_EQ(heard.hashes[rank], heard.hashes[0]);
  }
  EXPECT_NE(heard.hashes[0], run("").hashes[0]);
}

}  // namespace
}  // namespace aqueduct::runtime
