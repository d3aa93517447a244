#include "conduits/ucx/tests/ucx_party.hpp"
#include "conduits/ucx/wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conduits::ucx {
namespace {

TEST(UcxMap, GivesZeroedMemoryThatANeighbourWritesTo) {
  UcxParty party(2, "sysv,self");
  ASSERT_TRUE(party.complete());
  core::CrossMap* const owner = party[1].cross_map();
  ASSERT_NE(owner, nullptr);
  const auto memory = owner->allocate(0, 100'000);
  ASSERT_TRUE(memory);
  EXPECT_TRUE(std::ranges::all_of(*memory, [](std::byte b) { return b == std::byte{}; }));
  const auto key = owner->export_map(0, *memory, true);
  const auto there = party[0].cross_map()->map(1, key, memory->size());
  ASSERT_TRUE(there) << there.status().text();
  (*there)[99'999] = std::byte{5};
  EXPECT_EQ(memory->back(), std::byte{5});
  EXPECT_EQ(party[0].waitable(), nullptr) << "nobody would wake it";
}

TEST(UcxMap, DoesNotMapWhatItDidNotGive) {
  UcxParty party(2, "sysv,self");
  ASSERT_TRUE(party.complete());
  std::vector<std::byte> own(1000);
  EXPECT_TRUE(party[1].cross_map()->export_map(0, own, false).empty());
  EXPECT_EQ(party[0].cross_map()->map(1, {}, 1000).status().code(), ErrorCode::not_supported);
}

TEST(UcxMap, MemoryOfAProcessThatIsGoneIsNotGivenToUcx) {
  UcxParty party(2, "sysv,self");
  ASSERT_TRUE(party.complete());
  const auto memory = party[1].cross_map()->allocate(0, 1000);
  ASSERT_TRUE(memory);
  auto key = party[1].cross_map()->export_map(0, *memory, true);
  KeyHead head;
  ASSERT_GT(key.size(), sizeof head);
  std::memcpy(&head, key.data(), sizeof head);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  head.owner.pid = child;
  std::memcpy(key.data(), &head, sizeof head);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(party[0].cross_map()->map(1, key, 1000).status().code(), ErrorCode::peer_lost)
      << "not yet reaped";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(party[0].cross_map()->map(1, key, 1000).status().code(), ErrorCode::peer_lost) << "reaped";
  head.owner.space = 1;  // its pids mean nothing here
  std::memcpy(key.data(), &head, sizeof head);
  EXPECT_TRUE(party[0].cross_map()->map(1, key, 1000));
}

TEST(UcxMap, TooMuchIsRefusedAndSaysWhatToTry) {
  UcxParty party(1, "sysv,self");
  ASSERT_TRUE(party.complete());
  EXPECT_EQ(party[0].cross_map()->allocate(3, std::size_t{1} << 50).status().code(), ErrorCode::no_memory);
  ASSERT_EQ(party.lines().size(), 1u);
  EXPECT_NE(party.lines().front().find("AQUEDUCT_UCX_MAP=off"), std::string::npos);
}

TEST(UcxMap, NeedsSharedMemoryThatTakesWhatIsTouched) {
  for (const char* transports : {"tcp,self", "posix,self"}) {
    UcxParty party(2, transports);
    ASSERT_TRUE(party.complete());
    EXPECT_EQ(party[0].cross_map(), nullptr) << transports;
    EXPECT_NE(party[0].waitable(), nullptr) << transports;
  }
}

}  // namespace
}  // namespace aqueduct::conduits::ucx
