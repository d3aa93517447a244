// A rank reaches none of the others, which live and wait for it. Over a network that connects at first use they do not notice.

#include "tests/fault/launch.hpp"

#include <gtest/gtest.h>

#include <string>

namespace aqueduct::fault {
namespace {

class CutOff : public testing::TestWithParam<const char*> {};

TEST_P(CutOff, IsLostToTheOthers) {
  Launch job(aqrun({"-n", "3", "--timeout", "30", "-e", "AQUEDUCT_CONDUIT=ofi", "-e", "AQUEDUCT_NEAR=off",
                    "-e", "AQUEDUCT_OFI_PROVIDER=tcp;ofi_rxm", program("fault_cut_off"), GetParam()}));
  const int status = job.status();
  // not_supported: without this provider there are no connections to lose. Debian's libfabric has it.
  if (status == 25) GTEST_SKIP() << "libfabric has no tcp here: " << job.err();
  EXPECT_EQ(status, 0) << job.out() << job.err();
  const auto noticed = job.lines("noticed peer_lost (rank 1)");
  ASSERT_EQ(noticed.size(), 2u) << job.out() << job.err();
  for (const std::string& line : noticed) EXPECT_TRUE(has(line, "in time 1")) << line << job.err();
  EXPECT_TRUE(has(job.err(), "taken for lost") && has(job.err(), "raise `ulimit -n`")) << job.err();
  EXPECT_EQ(has(job.err(), "nor can any other rank, so this one goes on alone"),
            std::string(GetParam()) == "stays")
      << job.err();
}

INSTANTIATE_TEST_SUITE_P(WhenItFinishesOrStays, CutOff, testing::Values("leaves", "stays"));

}  // namespace
}  // namespace aqueduct::fault
