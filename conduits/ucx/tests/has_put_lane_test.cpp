#include "conduits/ucx/has_put_lane.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace aqueduct::conduits::ucx {
namespace {

using Lines = std::vector<std::string>;

std::vector<std::byte> key_of_domains(std::uint64_t mask) {
  std::vector<std::byte> key(19);
  std::memcpy(key.data(), &mask, sizeof mask);
  return key;
}

// In the format of UCX 1.13.
const Lines kRc{
    "# UCP endpoint",
    "#                 lane[0]:  1:rc_verbs/rxe0:1.0 md[1]       -> md[1]/ib/sysdev[255] am am_bw#0",
    "#                 lane[1]:  2:ud_verbs/rxe0:1.0 md[1]       -> md[1]/ib/sysdev[255] keepalive wireup",
    "#",
    "#                  put[0]: 0..<short>..81..<bcopy>..16384..<zcopy>..(inf)",
    "#                  get[0]: 0..<bcopy>..945..<zcopy>..(inf)",
};
const Lines kTcp{
    "#                 lane[0]:  0:tcp/lo.0 md[0]                -> md[0]/tcp/sysdev[255] am am_bw#0 "
    "keepalive wireup",
    "#                  rma_bw: mds #",
};
const Lines kPosix{
    "#                 lane[0]:  0:posix/memory.0 md[0]          -> md[0]/posix/sysdev[255] am am_bw#0",
    "#                  put[0]: 0..<short>..4294967296..<bcopy>..(inf)",
};

TEST(HasPutLane, MemoryThatTheDomainOfAPuttingLaneHolds) {
  EXPECT_TRUE(has_put_lane(kRc, key_of_domains(0b10)));
  EXPECT_TRUE(has_put_lane(kRc, key_of_domains(0b111)));
}

TEST(HasPutLane, NoMemoryOfOtherDomains) {
  EXPECT_FALSE(has_put_lane(kRc, key_of_domains(0b101)));
  EXPECT_FALSE(has_put_lane(kPosix, key_of_domains(0))) << "the caller's own memory";
}

TEST(HasPutLane, NothingWithoutAPuttingLane) {
  EXPECT_FALSE(has_put_lane(kTcp, key_of_domains(~std::uint64_t{0})));
  EXPECT_FALSE(has_put_lane({}, key_of_domains(1)));
}

TEST(HasPutLane, NothingThatIsNotUnderstood) {
  EXPECT_FALSE(has_put_lane(kRc, {}));
  EXPECT_FALSE(has_put_lane({"lane[x]: -> md[y]", "put[0]:", "lane[99]: -> md[99]/", "put[99]: 0"},
                            key_of_domains(1)));
}

}  // namespace
}  // namespace aqueduct::conduits::ucx
