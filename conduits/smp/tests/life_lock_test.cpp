#include "conduits/smp/smp_network.hpp"
#include "conduits/smp/tests/party.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

TEST(LifeLock, ThatIsRefusedIsAnErrorWithAReason) {
  TestProcess test;
  SmpNetwork network(test.process);
  auto conduit = network.open(0);
  ASSERT_TRUE(conduit) << test.said;
  const std::vector<std::vector<std::byte>> addresses{(*conduit)->address(), {std::byte{1}}};
  int held[2];
  int release[2];
  ASSERT_EQ(::pipe2(held, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(release, O_CLOEXEC), 0);
  // Another process holds the lock, so the system refuses it.
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(release[1]);
    const auto arena = Arena::attach(test.process, addresses[0], 2);
    char word = arena && (*arena)->lock_life(0) ? 'y' : 'n';
    if (::write(held[1], &word, 1) != 1) ::_exit(1);
    static_cast<void>(::read(release[0], &word, 1));
    ::_exit(0);
  }
  char word = 0;
  ASSERT_EQ(::read(held[0], &word, 1), 1);
  ASSERT_EQ(word, 'y');
  EXPECT_EQ((*conduit)->connect(addresses).code(), ErrorCode::network_failed);
  EXPECT_NE(test.said.find("smp: rank 0 gets no lock on the shared arena"), std::string::npos) << test.said;
  for (const int end : {held[0], held[1], release[0], release[1]}) ::close(end);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace aqueduct::conduits::smp
