// Wrong settings and impossible requests: the job ends at once, and says what to change.

#include <aqueduct/status.hpp>

#include "tests/fault/launch.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include <unistd.h>

namespace aqueduct::fault {
namespace {

struct Wrong {
  const char* setting;
  ErrorCode code;
  std::vector<const char*> says;
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.setting; }

class WrongSetting : public testing::TestWithParam<Wrong> {};

TEST_P(WrongSetting, EndsTheJobWithTheReason) {
  const Wrong& wrong = GetParam();
  Launch job(aqrun({"-n", "2", "--timeout", "30", "-e", wrong.setting, program("fault_crowd"), "hello"}));
  EXPECT_EQ(job.status(), Status(wrong.code).exit_code()) << job.err();
  for (const char* part : wrong.says)
    EXPECT_TRUE(has(job.err(), part)) << part << " is not in:\n" << job.err();
  EXPECT_EQ(job.out(), "");
  EXPECT_LT(job.took().count(), 5.0);
  EXPECT_TRUE(has(job.err(), ") exited with status " + std::to_string(Status(wrong.code).exit_code())))
      << job.err();
}

INSTANTIATE_TEST_SUITE_P(
    Faults, WrongSetting,
    testing::Values(
        Wrong{"AQUEDUCT_SEGMENT_BYTS=1M",
              ErrorCode::bad_setting,
              {"AQUEDUCT_SEGMENT_BYTS", "is not a setting; did you mean AQUEDUCT_SEGMENT_BYTES?"}},
        Wrong{"AQUEDUCT_SEGMENT_BYTES=many", ErrorCode::bad_setting, {"AQUEDUCT_SEGMENT_BYTES", "many"}},
        Wrong{"AQUEDUCT_SEGMENT_BYTES=-1", ErrorCode::bad_setting, {"AQUEDUCT_SEGMENT_BYTES", "-1"}},
        Wrong{"AQUEDUCT_OPERATIONS=3", ErrorCode::bad_setting, {"AQUEDUCT_OPERATIONS", "16"}},
        Wrong{"AQUEDUCT_STALL_WARN=10parsecs", ErrorCode::bad_setting, {"AQUEDUCT_STALL_WARN", "10parsecs"}},
        Wrong{"AQUEDUCT_LOG=loud", ErrorCode::bad_setting, {"AQUEDUCT_LOG", "loud", "warn"}},
        Wrong{"AQUEDUCT_CONDUIT=snp", ErrorCode::bad_setting, {"AQUEDUCT_CONDUIT", "did you mean smp?"}},
        Wrong{"AQUEDUCT_UDP_FAULTS=los=1%", ErrorCode::bad_setting, {"there is no fault \"los\""}},
        Wrong{"AQUEDUCT_CONDUIT=/no/such/conduit.so", ErrorCode::bad_setting, {"/no/such/conduit.so"}},
        Wrong{"AQUEDUCT_SMP_RING_BYTES=100",
              ErrorCode::bad_setting,
              {"AQUEDUCT_SMP_RING_BYTES is 100", "1024"}},
        Wrong{"AQUEDUCT_SEGMENT_BYTES=64T",
              ErrorCode::no_memory,
              {"70368744177664 bytes are more than the", "AQUEDUCT_SEGMENT_BYTES"}},
        Wrong{"AQUEDUCT_CONDUIT=loop", ErrorCode::not_supported, {"loop"}}),
    [](const auto& info) {
      std::string name = info.param.setting;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      return name;
    });

/// aqrun with two ranks, with this setting in the environment of the second one.
std::vector<std::string> with_other_second(const std::string& setting) {
  return aqrun({"-n", "2", "--timeout", "30", "sh", "-c",
                "case $AQUEDUCT_BOOTSTRAP in *process:1,*) export " + setting + ";; esac; exec " +
                    program("fault_crowd") + " hello"});
}

TEST(WrongSettings, ThatAllRanksHaveAreSaidOnce) {
  Launch job(aqrun({"-n", "4", "--timeout", "30", "-e", "AQUEDUCT_SEGMENT_BYTS=1M", "-e",
                    "AQUEDUCT_SIGNALS=0", program("fault_crowd"), "hello"}));
  EXPECT_EQ(job.status(), Status(ErrorCode::bad_setting).exit_code()) << job.err();
  EXPECT_EQ(count(job.err(), "did you mean AQUEDUCT_SEGMENT_BYTES?"), 1u) << job.err();
  EXPECT_EQ(count(job.err(), "AQUEDUCT_SIGNALS=0: this is too small"), 1u) << job.err();
}

TEST(WrongSettings, ThatOneRankHasAreSaidByIt) {
  Launch job(with_other_second("AQUEDUCT_SEGMENT_BYTS=1M"));
  EXPECT_EQ(job.status(), Status(ErrorCode::bad_setting).exit_code()) << job.err();
  EXPECT_EQ(count(job.err(), "did you mean AQUEDUCT_SEGMENT_BYTES?"), 1u) << job.err();
  EXPECT_LT(job.took().count(), 5.0);
}

TEST(WrongSettings, ThatDifferAreEachSaid) {
  Launch job(with_other_second("AQUEDUCT_SIGNALS=0"), {"AQUEDUCT_SEGMENTS=0"});
  EXPECT_EQ(job.status(), Status(ErrorCode::bad_setting).exit_code()) << job.err();
  EXPECT_EQ(count(job.err(), "AQUEDUCT_SEGMENTS=0: this is too small"), 1u) << job.err();
  EXPECT_EQ(count(job.err(), "AQUEDUCT_SIGNALS=0: this is too small"), 1u) << job.err();
}

/// Whether the launched programs can use this conduit here, with its own choice of provider or transports.
bool has_conduit(const std::string& name) {
  Launch probe(aqrun(
      {"-n", "1", "--timeout", "30", "-e", "AQUEDUCT_CONDUIT=" + name, program("fault_crowd"), "hello"}));
  return probe.status() == 0;
}

// The error only shows when the rank makes its networks, after it has met the others.
TEST(WrongSettings, ThatKeepOneRankFromStartingEndTheOthersToo) {
  Launch job(with_other_second("AQUEDUCT_SMP_RING_BYTES=100"));
  EXPECT_EQ(job.status(), Status(ErrorCode::bad_setting).exit_code()) << job.err();
  EXPECT_EQ(count(job.err(), "AQUEDUCT_SMP_RING_BYTES is 100"), 1u) << job.err();
  EXPECT_TRUE(has(job.err(), "process 1 could not start: ")) << job.err();
  EXPECT_LT(job.took().count(), 5.0);
}

// The same for a rank that cannot even choose a conduit.
TEST(WrongSettings, ThatLeaveOneRankWithoutAConduitEndTheOthersToo) {
  struct Unusable {
    const char* conduit;
    const char* setting;
  };
  bool tried = false;
  for (const auto& [conduit, setting] :
       {Unusable{"ofi", "AQUEDUCT_OFI_PROVIDER=nosuch"}, Unusable{"ucx", "AQUEDUCT_UCX_TRANSPORTS=nosuch"}}) {
    if (!has_conduit(conduit)) continue;
    tried = true;
    Launch job(with_other_second(setting), {std::string("AQUEDUCT_CONDUIT=") + conduit});
    EXPECT_NE(job.status(), 0) << conduit;
    EXPECT_TRUE(has(job.err(), std::string("conduit ") + conduit + " cannot be used here")) << job.err();
    EXPECT_TRUE(has(job.err(), "process 1 could not start: ")) << job.err();
    EXPECT_LT(job.took().count(), 5.0) << conduit;
  }
  if (!tried) GTEST_SKIP() << "neither ofi nor ucx can be used here";
}

TEST(Memory, ASegmentLargerThanTheMachineIsRefusedToAllAndTheJobGoesOn) {
  Launch job(aqrun({"-n", "3", "--timeout", "30", program("fault_crowd"), "huge"}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_EQ(job.lines("create no_memory").size(), 3u) << job.out();
  EXPECT_EQ(job.lines("then ok").size(), 3u) << job.out();
  EXPECT_EQ(count(job.err(), "are more than the"), 1u) << job.err();  // reported once, by the rank that asked
}

/// Runs aqrun with a file system of this size for shared memory, which is removed with the job.
std::vector<std::string> on_small_disk(const std::string& size, std::vector<std::string> command) {
  std::vector<std::string> all{
      "unshare",
      "-m",
      "sh",
      "-c",
      "mount -t tmpfs -o size=" + size + " tmpfs /mnt || exit 77; shift 0; exec \"$@\"",
      "sh"};
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

class SmallDisk : public testing::Test {
 protected:
  void SetUp() override {
    Launch probe(on_small_disk("1m", {"true"}));
    if (probe.status() != 0) GTEST_SKIP() << "needs root and mount namespaces: " << probe.err();
  }
  const std::vector<std::string> settings_{"AQUEDUCT_SMP_MEMORY=posix", "AQUEDUCT_SMP_DIRECTORY=/mnt"};
};

TEST_F(SmallDisk, FullIsAnErrorAtTheStartWithTheRoomThatThereIs) {
  Launch job(on_small_disk("2m", aqrun({"-n", "2", "--timeout", "30", program("fault_crowd"), "hello"})),
             settings_);
  EXPECT_EQ(job.status(), Status(ErrorCode::no_space).exit_code()) << job.err();
  EXPECT_TRUE(has(job.err(), "16777216 bytes do not fit")) << job.err();
  EXPECT_TRUE(has(job.err(), "are free there: No space left on device")) << job.err();
  EXPECT_TRUE(has(job.err(), "AQUEDUCT_SEGMENT_BYTES")) << job.err();
  EXPECT_LT(job.took().count(), 5.0);
}

TEST_F(SmallDisk, LargeEnoughServes) {
  Launch job(on_small_disk("8m", aqrun({"-n", "2", "--timeout", "30", "-e", "AQUEDUCT_SEGMENT_BYTES=64K",
                                        "-e", "AQUEDUCT_COLL_SCRATCH=64K", program("fault_crowd"), "hello"})),
             settings_);
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.lines("hello from").size(), 2u);
}

TEST(Memory, ADirectoryThatIsNotThereIsNamed) {
  Launch job(aqrun({"-n", "2", "--timeout", "30", program("fault_crowd"), "hello"}),
             {"AQUEDUCT_SMP_MEMORY=posix", "AQUEDUCT_SMP_DIRECTORY=/no/such/folder"});
  EXPECT_EQ(job.status(), Status(ErrorCode::network_failed).exit_code()) << job.err();
  EXPECT_TRUE(has(job.err(), "cannot make /no/such/folder/aqueduct-")) << job.err();
  EXPECT_TRUE(has(job.err(), "is AQUEDUCT_SMP_DIRECTORY a writable tmpfs?")) << job.err();
}

TEST(Memory, ADirectoryWithoutANameIsNotTheRoot) {
  Launch job(aqrun({"-n", "2", "--timeout", "30", program("fault_crowd"), "hello"}),
             {"AQUEDUCT_SMP_MEMORY=posix", "AQUEDUCT_SMP_DIRECTORY="});
  EXPECT_EQ(job.status(), Status(ErrorCode::bad_setting).exit_code()) << job.err();
  EXPECT_TRUE(has(job.err(), "AQUEDUCT_SMP_DIRECTORY is empty: unset it, or name a tmpfs such as /dev/shm"))
      << job.err();
}

/// Runs one program as process 0 and another as process 1.
std::vector<std::string> two_programs(const std::string& first, const std::string& second) {
  return aqrun(
      {"-n", "2", "--timeout", "30", "sh", "-c",
       "case $AQUEDUCT_BOOTSTRAP in *process:0,*) exec " + first + ";; *) exec " + second + ";; esac"});
}

TEST(Versions, TwoInOneJobAreAnErrorForAll) {
  for (const bool other_first : {false, true}) {
    const std::string ours = program("fault_crowd") + " hello", theirs = program("fault_other_version");
    Launch job(other_first ? two_programs(theirs, ours) : two_programs(ours, theirs));
    EXPECT_EQ(job.status(), Status(ErrorCode::version_mismatch).exit_code()) << job.out() << job.err();
    EXPECT_EQ(job.lines("other: version_mismatch").size(), 1u) << job.out() << job.err();
    EXPECT_TRUE(has(job.err(), "; build and install both from the same version")) << job.err();
    EXPECT_TRUE(has(job.err(), std::string("process ") + (other_first ? "0" : "1") + " uses Aqueduct "))
        << job.err();
    EXPECT_LT(job.took().count(), 5.0);
  }
}

}  // namespace
}  // namespace aqueduct::fault
