// Files of decisions, and what is wrong with them.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/tuning_file.hpp"
#include "coll/tune/tuning_table.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

const TuningPlace kHere{"A \"quick\" processor, 2 processors", "udp"};

std::vector<Decision> some_decisions() {
  Decision one;
  one.key.operation = Operation::broadcast;
  one.key.ranks = 4;
  one.key.hosts = 2;
  one.key.size = size_class(1024);
  one.best = {&kBroadcastKNomial, {8, 4, 0}, 9'000'000};
  one.samples = 40;
  Decision two = one;
  two.key.operation = Operation::all_reduce;
  two.key.kind = TeamKind::mapped;
  two.key.crowded = Crowding::yes;
  two.key.hosts = 0;
  two.key.in = Sync::none;
  two.key.out = Sync::mine;
  two.key.addresses = Addresses::single;
  two.key.order = Order::exact;
  two.key.commutative = false;
  two.key.element = 8;
  two.best = {&kAllReduceRing, {}, 1};
  two.runner_up = {&kAllReduceTree, {2, 0, 0}, 2};
  return {one, two};
}

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

TEST(TuningText, IsReadAsItWasWritten) {
  const std::vector<Decision> written = some_decisions();
  const TuningRead read = read_tuning(tuning_text(kHere, written), kHere);
  EXPECT_EQ(read.problem, "");
  EXPECT_EQ(read.unknown, 0u);
  EXPECT_EQ(read.decisions, written);
}

TEST(TuningText, OfAnOlderLibraryDoesNotKnowWhetherTheMachineWasCrowded) {
  std::string older = tuning_text(kHere, some_decisions());
  for (const std::string member : {", \"crowded\": false", ", \"crowded\": true"}) {
    const std::size_t at = older.find(member);
    ASSERT_NE(at, std::string::npos) << member;
    older.erase(at, member.size());
  }
  const TuningRead read = read_tuning(older, kHere);
  EXPECT_EQ(read.unknown, 0u);
  ASSERT_EQ(read.decisions.size(), 2u);
  for (const Decision& one : read.decisions) EXPECT_EQ(one.key.crowded, Crowding::unknown);
  EXPECT_EQ(tuning_text(kHere, read.decisions), older) << "it stays unknown";
}

// What was found over tcp says nothing about verbs.
TEST(TuningText, SaysTheNetworkOfEachDecision) {
  const TuningPlace tcp{kHere.machine, "ofi", "tcp on \"eth0\""};
  const TuningPlace verbs{kHere.machine, "ofi", "verbs on mlx5_0"};
  const std::vector<Decision> all = some_decisions();
  const DecisionsByNetwork written{{"", {all[0]}}, {tcp.network, {all[1]}}};
  const std::string text = tuning_text_by_network(tcp, written);
  EXPECT_EQ(read_tuning(text, tcp).decisions, all);
  EXPECT_EQ(read_tuning(text, tcp).by_network, written);
  EXPECT_EQ(read_tuning(text, verbs).decisions, std::vector{all[0]}) << "an older one, of whatever network";
  EXPECT_EQ(read_tuning(text, verbs).by_network, written);
  EXPECT_EQ(read_tuning(text, {tcp.machine, "ofi"}).decisions, all) << "nobody knows the network";
  std::string wrong = text;
  wrong.replace(wrong.find("\"network\": \""), 12, "\"network\": 7, \"x\": \"");
  EXPECT_EQ(read_tuning(wrong, tcp).unknown, 1u);
}

TEST(TuningText, OfAnotherMachineConduitOrVersionIsRefused) {
  const std::string text = tuning_text(kHere, some_decisions());
  EXPECT_THAT(read_tuning(text, {"another", "udp"}).problem, HasSubstr("of another kind of machine"));
  EXPECT_THAT(read_tuning(text, {kHere.machine, "ofi"}).problem, HasSubstr("of conduit udp, not of ofi"));
  std::string newer = text;
  newer.replace(newer.find("\"version\": 1"), 12, "\"version\": 2");
  EXPECT_THAT(read_tuning(newer, kHere).problem, HasSubstr("version 2, and this library reads 1"));
  EXPECT_THAT(read_tuning("{}", kHere).problem, HasSubstr("holds no decisions"));
}

TEST(TuningText, CutOffAnywhereIsDamaged) {
  const std::string whole = tuning_text(kHere, some_decisions());
  for (std::size_t length = 0; length + 2 < whole.size(); length += 5) {
    const TuningRead read = read_tuning(whole.substr(0, length), kHere);
    EXPECT_NE(read.problem, "") << length;
    EXPECT_TRUE(read.decisions.empty());
  }
}

// An entry that makes no sense is left out; the others count.
TEST(TuningText, WithWrongEntriesHasTheOthers) {
  const std::string text = tuning_text(kHere, some_decisions());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    return read_tuning(changed, kHere);
  };
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"k-nomial", "from-the-future"},
                                 {"\"ranks\": 4", "\"ranks\": 0"},
                                 {"radix=8", "radix=1000000"},
                                 {"\"broadcast\"", "\"scan\""},
                                 {"\"in\": \"all\"", "\"in\": \"some\""},
                                 {"\"bytes\": 1024", "\"bytes\": -1"},
                                 {"\"commutative\": true", "\"commutative\": 1"},
                                 {"\"samples\": 40", "\"samples\": 1e30"},
                                 {"\"crowded\": false", "\"crowded\": 0"},
                                 {"\"order\"", "\"odour\""}}) {
    const TuningRead read = with(from, to);
    EXPECT_EQ(read.problem, "") << to;
    EXPECT_EQ(read.unknown, 1u) << to;
    EXPECT_EQ(read.decisions.size(), 1u) << to;
  }
}

TEST(TuningText, ShuffledHasTheSameTable) {
  std::vector<Decision> decisions = some_decisions();
  const std::string text = tuning_text(kHere, decisions);
  std::ranges::reverse(decisions);
  EXPECT_EQ(tuning_text(kHere, decisions), text);
}

TEST(TuningFile, IsMergedNotReplaced) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "new" / "tuning.json").string();
  const std::vector<Decision> decisions = some_decisions();
  EXPECT_EQ(save_tuning(file, kHere, {&decisions[0], 1}), "");
  EXPECT_EQ(save_tuning(file, kHere, {&decisions[1], 1}), "");
  Decision again = decisions[0];
  again.best.algorithm = &kBroadcastChain;
  again.best.wanted = {};
  EXPECT_EQ(save_tuning(file, kHere, {&again, 1}), "");
  EXPECT_EQ(load_tuning(file, kHere).decisions, (std::vector{again, decisions[1]}));
}

// A table has fewer; a file is of many jobs.
TEST(TuningFile, KeepsAllDecisionsOrStaysAsItWas) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "tuning.json").string();
  const auto of_ranks = [](Rank first, Rank last) {
    std::vector<Decision> many;
    for (Rank ranks = first; ranks <= last; ++ranks) {
      many.push_back(some_decisions().front());
      many.back().key.ranks = ranks;
    }
    return many;
  };
  constexpr Rank kMany = 2000;
  static_assert(kMany > TuningTable::kMostDecisions);
  ASSERT_EQ(save_tuning(file, kHere, of_ranks(2, kMany / 2)), "");
  ASSERT_EQ(save_tuning(file, kHere, of_ranks(kMany / 2 + 1, kMany)), "");
  EXPECT_EQ(load_tuning(file, kHere).decisions, of_ranks(2, kMany));
  EXPECT_THAT(save_tuning(file, kHere, of_ranks(2, 20 * kMany)), HasSubstr("it would have more than"));
  EXPECT_EQ(load_tuning(file, kHere).decisions, of_ranks(2, kMany));
}

TEST(TuningFile, HoldsTheDecisionsOfSeveralNetworks) {
  const support::ScratchFolder folder;
  TuningPlace tcp = kHere;
  tcp.network = "tcp on eth0";
  TuningPlace verbs = kHere;
  verbs.network = "verbs on mlx5_0";
  const std::string file = tuning_file(folder.path(), tcp);
  EXPECT_EQ(file, tuning_file(folder.path(), verbs));
  const auto taking = [](std::uint64_t picoseconds) {
    std::vector<Decision> one{some_decisions().front()};
    one.front().best.picoseconds = picoseconds;
    return one;
  };
  // The last one that counts.
  const auto time_over = [&](const TuningPlace& place) {
    return latest_of(load_tuning(folder.path(), place).decisions).front().best.picoseconds;
  };
  ASSERT_EQ(save_tuning(file, kHere, taking(3)), "");
  EXPECT_EQ(time_over(tcp), 3u) << "an older file";
  ASSERT_EQ(save_tuning(file, tcp, taking(2)), "");
  EXPECT_EQ(time_over(tcp), 2u);
  EXPECT_EQ(time_over(verbs), 3u);
  ASSERT_EQ(save_tuning(file, verbs, taking(1)), "");
  EXPECT_EQ(time_over(tcp), 2u);
  EXPECT_EQ(time_over(verbs), 1u);
  ASSERT_EQ(save_tuning(file, tcp, taking(5)), "");
  EXPECT_EQ(time_over(tcp), 5u);
  EXPECT_EQ(load_tuning(folder.path(), kHere).by_network.size(), 3u);
}

TEST(TuningFile, InAFolderHasANameOfItsOwn) {
  const support::ScratchFolder folder;
  const std::string file = tuning_file(folder.path(), kHere);
  EXPECT_THAT(file, testing::MatchesRegex(folder.path() + "/tuning-udp-[0-9a-f]+\\.json"));
  EXPECT_NE(file, tuning_file(folder.path(), {kHere.machine, "smp"}));
  EXPECT_NE(file, tuning_file(folder.path(), {"another", "udp"}));
  EXPECT_EQ(load_tuning(folder.path(), kHere).problem, "") << "no file in a folder is no problem";
  EXPECT_THAT(load_tuning((folder / "none.json").string(), kHere).problem, HasSubstr("cannot be read"));
}

TEST(TuningFile, ThatIsNotOursIsLeftAlone) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "tuning.json").string();
  for (const std::string& text : {std::string("shopping list"), tuning_text({"another", "udp"}, {}),
                                  std::string("{\"format\": \"aqueduct-tuning\", \"version\": 9}")}) {
    write(file, text);
    EXPECT_THAT(save_tuning(file, kHere, some_decisions()), HasSubstr("is not changed"));
    EXPECT_EQ(content_of(file), text);
  }
}

TEST(TuningFile, OfALaterLibraryKeepsWhatThisOneDoesNotKnow) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "tuning.json").string();
  std::string text = tuning_text(kHere, some_decisions());
  text.replace(text.find("k-nomial"), 8, "of-later");
  write(file, text);
  EXPECT_THAT(save_tuning(file, kHere, some_decisions()),
              testing::AllOf(HasSubstr("is not changed"), HasSubstr("1 of its entries")));
  EXPECT_EQ(content_of(file), text);
}

TEST(TuningFile, ThatIsNoFileIsNotWaitedFor) {
  const support::ScratchFolder folder;
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(load_tuning(pipe, kHere).problem, HasSubstr("cannot be read"));
  const std::string absent = (folder / "absent").string();
  EXPECT_THAT(load_tuning(absent, kHere).problem, HasSubstr("No such file"));
  const std::string in_folder = tuning_file(folder.path(), kHere);
  EXPECT_EQ(load_tuning(folder.path(), kHere).problem, "") << "a folder need not have every file";
  ASSERT_EQ(::symlink(in_folder.c_str(), in_folder.c_str()), 0);
  EXPECT_THAT(load_tuning(folder.path(), kHere).problem, HasSubstr("cannot be read"));
  EXPECT_THAT(save_tuning(in_folder, kHere, some_decisions()), HasSubstr("cannot be looked at"));
}

// A limit on the size of files refuses a write as a full disk does.
TEST(TuningFile, OnAFullDiskStaysAsItWas) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "tuning.json").string();
  const std::vector<Decision> decisions = some_decisions();
  ASSERT_EQ(save_tuning(file, kHere, {&decisions[0], 1}), "");
  const std::string before = content_of(file);
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit none{0, usual.rlim_max};
  const auto handled = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const std::string problem = save_tuning(file, kHere, {&decisions[1], 1});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  std::signal(SIGXFSZ, handled);
  EXPECT_THAT(problem, HasSubstr("cannot be written"));
  EXPECT_EQ(content_of(file), before);
  for (const auto& left : std::filesystem::directory_iterator(folder.path()))
    EXPECT_NE(left.path().extension(), ".new") << left.path();
  EXPECT_EQ(save_tuning(file, kHere, {&decisions[1], 1}), "");
}

TEST(TuningFile, ThatAnotherWritesForEverIsGivenUp) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "tuning.json").string();
  const int held = ::open((file + ".lock").c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_GE(held, 0);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  EXPECT_THAT(save_tuning(file, kHere, some_decisions(), 50ms), HasSubstr("locked by another process"));
  ::close(held);
  EXPECT_EQ(save_tuning(file, kHere, some_decisions()), "");
}

/// The rights of a file.
mode_t rights_of(const std::string& file) {
  struct stat found {};
  EXPECT_EQ(::stat(file.c_str(), &found), 0) << file;
  return found.st_mode & 07777;
}

TEST(TuningFile, KeepsItsRights) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "tuning.json").string();
  const std::vector<Decision> decisions = some_decisions();
  ASSERT_EQ(save_tuning(file, kHere, {&decisions[0], 1}), "");
  for (const mode_t rights : {mode_t{0664}, mode_t{0600}}) {
    ASSERT_EQ(::chmod(file.c_str(), rights), 0);
    ASSERT_EQ(save_tuning(file, kHere, {&decisions[1], 1}), "");
    EXPECT_EQ(rights_of(file), rights);
  }
}

/// Another user than the one of the test, for a while. The superuser may write any file.
class AsNobody {
 public:
  AsNobody() {
    if (usual_ == 0) {
      EXPECT_EQ(::seteuid(65534), 0);
    }
  }
  ~AsNobody() {
    if (usual_ == 0) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  uid_t usual_ = ::geteuid();
};

// Only the first user of a shared folder could save.
TEST(TuningFile, IsChangedUnderALockThatOnlyItsOwnerMayWrite) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "tuning.json").string();
  const std::vector<Decision> decisions = some_decisions();
  ASSERT_EQ(save_tuning(file, kHere, {&decisions[0], 1}), "");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(::chmod((file + ".lock").c_str(), 0444), 0);
  {
    const AsNobody other;
    EXPECT_EQ(save_tuning(file, kHere, {&decisions[1], 1}), "");
  }
  EXPECT_EQ(load_tuning(file, kHere).decisions, decisions);
  ASSERT_EQ(::chmod((file + ".lock").c_str(), 0), 0);
  const AsNobody other;
  EXPECT_THAT(save_tuning(file, kHere, {&decisions[1], 1}), HasSubstr("tuning.json.lock cannot be opened"));
}

TEST(TuningFile, ThatCannotBeSavedIsToldBefore) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "new" / "tuning.json").string();
  EXPECT_EQ(why_not_saved(file, kHere, 50ms), "");
  EXPECT_FALSE(std::filesystem::exists(file));
  for (const auto& left : std::filesystem::directory_iterator(folder / "new"))
    EXPECT_NE(left.path().extension(), ".new") << left.path();
  const int held = ::open((file + ".lock").c_str(), O_RDWR);
  ASSERT_GE(held, 0);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  EXPECT_THAT(why_not_saved(file, kHere, 50ms), HasSubstr("locked by another process"));
  ::close(held);
  write(file, "shopping list");
  EXPECT_THAT(why_not_saved(file, kHere, 50ms), HasSubstr("is not changed: it is damaged"));
  EXPECT_THAT(why_not_saved(file + "/tuning.json", kHere, 50ms), HasSubstr("tuning.json cannot be made"));
}

TEST(TuningFile, LosesNothingOfWritersAtOnce) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "tuning.json").string();
  constexpr Rank kWriters = 4;
  constexpr Rank kTurns = 8;
  constexpr std::chrono::seconds kPatienceOfTests{60};  // the lock is not fair, and a sanitizer is slow
  // Each opens the lock by itself, so the threads exclude each other as processes do.
  std::vector<std::thread> writers;
  for (Rank writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (Rank turn = 0; turn < kTurns; ++turn) {
        Decision one = some_decisions().front();
        one.key.ranks = 2 + writer * kTurns + turn;
        EXPECT_EQ(save_tuning(file, kHere, {&one, 1}, kPatienceOfTests), "");
      }
    });
  }
  for (std::thread& one : writers) one.join();
  EXPECT_EQ(load_tuning(file, kHere).decisions.size(), std::size_t{kWriters} * kTurns);
}

}  // namespace
}  // namespace aqueduct::coll
