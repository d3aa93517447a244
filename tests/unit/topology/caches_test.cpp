#include "topology/caches.hpp"
#include "topology/machine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace aqueduct::topology {
namespace {

namespace fs = std::filesystem;

/// A folder as the system has for a processor's caches.
class CacheFolder {
 public:
  explicit CacheFolder(const std::string& name)
      : root_(fs::path(testing::TempDir()) / (name + "." + std::to_string(::getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~CacheFolder() { fs::remove_all(root_); }

  void add(const char* level, const char* type, const char* size, const char* sharing) {
    const fs::path index = root_ / ("index" + std::to_string(count_++));
    fs::create_directories(index);
    for (const auto& [name, text] :
         {std::pair{"level", level}, {"type", type}, {"size", size}, {"shared_cpu_list", sharing}})
      std::ofstream(index / name) << text << '\n';
  }
  std::string path() const { return root_.string(); }

 private:
  fs::path root_;
  int count_ = 0;
};

TEST(Caches, AreReadFromTheFilesOfTheSystem) {
  CacheFolder folder("aqueduct_caches");
  folder.add("1", "Data", "48K", "0");
  folder.add("1", "Instruction", "32K", "0");
  folder.add("2", "Unified", "1024K", "0,8");
  folder.add("3", "Unified", "32M", "0-7,16-23");
  EXPECT_EQ(read_system_caches(folder.path()), (Caches{48 << 10, 1 << 20, 32 << 20, 16}));
}

TEST(Caches, WithoutAThirdLevelEndAtTheSecond) {
  CacheFolder folder("aqueduct_two_caches");
  folder.add("1", "Data", "32K", "0");
  folder.add("2", "Unified", "2M", "0-3");
  EXPECT_EQ(read_system_caches(folder.path()), (Caches{32 << 10, 2 << 20, 2 << 20, 4}));
}

TEST(Caches, AreNotKnownWhereTheSystemSaysNothingOrRubbish) {
  EXPECT_EQ(read_system_caches("/no/such/folder"), Caches{});
  CacheFolder folder("aqueduct_rubbish_caches");
  folder.add("1", "Data", "much", "0");
  folder.add("2", "Unified", "99999999999999999999K", "0");
  folder.add("3", "Unified", "-1K", "");
  EXPECT_EQ(read_system_caches(folder.path()), Caches{});
}

TEST(Caches, GoIntoAWordThatIsNeverZero) {
  for (const Caches& caches : {Caches{}, Caches{48 << 10, 1 << 20, 32 << 20, 16},
                               Caches{1023 << 10, 1ull << 29, 1ull << 31, 2047}}) {
    EXPECT_NE(word_of(caches), 0u);
    EXPECT_EQ(caches_of(word_of(caches)), caches);
  }
  const Caches most = caches_of(word_of({1ull << 40, 1ull << 40, 1ull << 60, 1u << 30}));
  EXPECT_EQ(most.first, 1023u << 10);
  EXPECT_EQ(most.sharing, 2047u);
}

// Whoever comes first; also if others would read something else.
TEST(Caches, AreTheSameForAllRanksOfAHost) {
  alignas(8) std::array<std::byte, 8> word{};
  std::array<Caches, 8> found{};
  std::vector<std::thread> ranks;
  for (std::uint32_t i = 0; i < found.size(); ++i) {
    ranks.emplace_back([&, i] {
      found[i] = agreed_caches(word.data(), [i] { return Caches{(i + 1) << 10, 1 << 20, 1 << 22, 1}; });
    });
  }
  for (std::thread& rank : ranks) rank.join();
  for (const Caches& one : found) EXPECT_EQ(one, found[0]);
  EXPECT_EQ(agreed_caches(word.data(), [] { return Caches{}; }), found[0]) << "read again";
  EXPECT_EQ(agreed_caches(nullptr, [] { return Caches{4096, 0, 0, 0}; }), (Caches{4096, 0, 0, 0}));
}

TEST(Caches, OfAPretendedHostAreThoseThatItNames) {
  const Reading read = read_machine(Source::of("l3:2(size=8388608) l2:4(size=524288) l1:1(size=32768) pu:2"));
  // Where hwloc is not installed nothing can be pretended.
  if (!read.problem.empty()) GTEST_SKIP() << read.problem;
  EXPECT_EQ(read.caches, (Caches{32 << 10, 512 << 10, 8 << 20, 8}));
}

}  // namespace
}  // namespace aqueduct::topology
