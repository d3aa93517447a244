#include "conduits/smp/doorbell.hpp"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

bool readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

TEST(SmpDoorbell, IsReadableFromARingUntilSilenced) {
  const Doorbell bell = make_doorbell();
  ASSERT_GE(bell.socket, 0);
  EXPECT_LT(bell.name, 1u << 20);
  EXPECT_FALSE(readable(bell.socket));
  ring_doorbell(bell.name);
  EXPECT_TRUE(readable(bell.socket));
  silence_doorbell(bell.socket);
  EXPECT_FALSE(readable(bell.socket));
  ::close(bell.socket);
}

TEST(SmpDoorbell, TakesMoreRingsThanTheSystemQueues) {
  const Doorbell bell = make_doorbell();
  ASSERT_GE(bell.socket, 0);
  for (int ring = 0; ring < 1000; ++ring) ring_doorbell(bell.name);  // none of them blocks
  EXPECT_TRUE(readable(bell.socket));
  silence_doorbell(bell.socket);
  EXPECT_FALSE(readable(bell.socket));
  ::close(bell.socket);
}

TEST(SmpDoorbell, RingsOnlyWhoHasTheName) {
  const Doorbell one = make_doorbell(), other = make_doorbell();
  ASSERT_GE(one.socket, 0);
  ASSERT_GE(other.socket, 0);
  EXPECT_NE(one.name, other.name);
  ring_doorbell(one.name);
  EXPECT_FALSE(readable(other.socket));
  ::close(one.socket);
  ring_doorbell(one.name);  // no socket has this name now
  EXPECT_FALSE(readable(other.socket));
  ::close(other.socket);
}

TEST(SmpDoorbell, IsNoneWithoutDescriptors) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Doorbell bell = make_doorbell();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(bell.socket, -1);
}

}  // namespace
}  // namespace aqueduct::conduits::smp
