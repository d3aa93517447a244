#include "topology/machine.hpp"
#include "topology/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace aqueduct::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> described(const Table& table) {
  std::vector<std::string> out;
  for (const Level& level : table.levels())
    out.push_back(level.name + " " + std::to_string(level.domains) + (level.memory ? " memory" : ""));
  return out;
}

TEST(CpuSet, IsWrittenAndReadAsAList) {
  for (const auto& [set, text] :
       std::vector<std::pair<CpuSet, std::string>>{{{}, ""},
                                                   {{0}, "0"},
                                                   {{0, 1}, "0,1"},
                                                   {{0, 1, 2, 3, 8}, "0-3,8"},
                                                   {{5, 7, 8, 9, 200}, "5,7-9,200"}}) {
    EXPECT_EQ(text_of(set), text);
    EXPECT_EQ(read_set(text), set);
  }
  EXPECT_THAT(read_set("8,0-3,2"), ElementsAre(0, 1, 2, 3, 8));
  std::vector<std::uint32_t> numbers;
  EXPECT_TRUE(read_list("3,1,3", numbers));
  EXPECT_THAT(numbers, ElementsAre(3, 1, 3));
  for (const char* wrong : {"", ",", "1,", "1-", "3-1", "a", "1 ", "-1", "65536", "0-65535,1", "99999999999"})
    EXPECT_FALSE(read_list(wrong, numbers)) << wrong;
}

TEST(CpuSet, OfThisThreadIsNotEmpty) { EXPECT_FALSE(cpus_of_this_thread().empty()); }

TEST(Table, OfUnknownHostsHasOneLevel) {
  const Table table = Table::unknown();
  EXPECT_THAT(described(table), ElementsAre("host 1"));
  EXPECT_EQ(table.domain_of(0, {}), 0u);
  EXPECT_EQ(table.domain_of(1, {0}), kNowhere);
}

TEST(Table, JoinsLevelsThatDivideAlike) {
  const Table table = Table::of({0, 1, 2, 3}, std::vector<Table::Found>{{"package", {0, 0, 0, 0}, true},
                                                                        {"l3", {0, 0, 1, 1}, true},
                                                                        {"l2", {0, 1, 2, 3}, false},
                                                                        {"core", {3, 2, 1, 0}, false},
                                                                        {"numa", {7, 7, 9, 9}, true}});
  EXPECT_THAT(described(table), ElementsAre("host 1", "l3+numa 2 memory", "l2+core 4"));
  EXPECT_EQ(table.domain_of(1, {0, 1}), 0u);
  EXPECT_EQ(table.domain_of(1, {2}), 1u);
  EXPECT_EQ(table.domain_of(1, {1, 2}), kNowhere);
  EXPECT_EQ(table.domain_of(1, {7}), kNowhere);
  EXPECT_EQ(table.domain_of(1, {}), kNowhere);
}

// Sub-NUMA clusters are smaller than the last cache; elsewhere they are larger.
TEST(Table, OrdersLevelsByTheirWidth) {
  const std::vector<Table::Found> levels{{"numa", {0, 0, 1, 1, 2, 2, 3, 3}, true},
                                         {"l3", {0, 0, 0, 0, 1, 1, 1, 1}, true}};
  EXPECT_THAT(described(Table::of({0, 1, 2, 3, 4, 5, 6, 7}, levels)),
              ElementsAre("host 1", "l3 2 memory", "numa 4 memory"));
}

TEST(Table, LeavesOutLevelsThatCutOthers) {
  const std::vector<Table::Found> levels{{"package", {0, 0, 1, 1}, true}, {"odd", {0, 1, 1, 2}, true}};
  EXPECT_THAT(described(Table::of({0, 1, 2, 3}, levels)), ElementsAre("host 1", "package 2 memory"));
}

TEST(Table, GivesProcessorsWithoutADomainTheirOwn) {
  const Table table = Table::of(
      {0, 1, 2, 3},
      std::vector<Table::Found>{{"package", {0, 0, 1, 1}, true}, {"l3", {0, 1, kNowhere, kNowhere}, true}});
  EXPECT_THAT(described(table), ElementsAre("host 1", "package 2 memory", "l3 3 memory"));
  EXPECT_EQ(table.domain_of(2, {2, 3}), 2u);
}

TEST(Table, TravelsAsWords) {
  const Table table = Table::of(
      {0, 4, 9}, std::vector<Table::Found>{{"package", {0, 0, 1}, true}, {"core", {0, 1, 2}, false}});
  std::vector<std::uint32_t> words = table.words();
  Table copy = Table::unknown();
  ASSERT_TRUE(copy.read(words));
  EXPECT_EQ(copy, table);
  EXPECT_EQ(described(copy), described(table));
  for (std::size_t length = 0; length < words.size(); ++length)
    EXPECT_FALSE(copy.read(std::span(words).first(length))) << length;
  // What another process has written may be anything: no number leads outside.
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::uint32_t wrong : {0xffffffffu, 0u, 77u}) {
      std::vector<std::uint32_t> changed = words;
      changed[i] = wrong;
      Table read = Table::unknown();
      if (!read.read(changed)) continue;
      for (std::size_t level = 0; level < read.levels().size(); ++level) {
        for (const std::uint32_t cpu : read.cpus()) {
          if (const std::uint32_t domain = read.domain_of(level, {cpu}); domain != kNowhere) {
            EXPECT_LT(domain, std::max(1u, read.levels()[level].domains));
          }
        }
      }
    }
  }
}

TEST(Source, IsReadFromTheSetting) {
  EXPECT_EQ(Source::of("auto").kind, Source::Kind::machine);
  EXPECT_EQ(Source::of("none").kind, Source::Kind::none);
  EXPECT_EQ(Source::of("package:2 core:4").kind, Source::Kind::synthetic);
  EXPECT_EQ(Source::of("./a").kind, Source::Kind::xml);
  EXPECT_EQ(Source::of("host.xml").kind, Source::Kind::xml);
}

// The tests of a build without hwloc end here.
bool has_hwloc() { return read_machine(Source::of("auto")).problem.empty(); }

TEST(Machine, IsReadFromADescription) {
  if (!has_hwloc()) GTEST_SKIP() << "no hwloc";
  const Reading plain = read_machine(Source::of("package:4 core:8"));  // each with a processor
  ASSERT_EQ(plain.problem, "");
  EXPECT_THAT(described(plain.table), ElementsAre("host 1", "package 4 memory", "core 32"));
  EXPECT_EQ(plain.table.cpus().size(), 32u);
  EXPECT_EQ(plain.table.domain_of(1, {17}), 2u);
  const Reading deep = read_machine(Source::of("package:2 [numa] l3:2 l2:2 core:1 pu:2"));
  ASSERT_EQ(deep.problem, "");
  EXPECT_THAT(described(deep.table),
              ElementsAre("host 1", "package+numa 2 memory", "l3 4 memory", "l2+core 8"));
  EXPECT_EQ(deep.table.domain_of(3, {0, 1}), 0u) << "the two threads of a core";
}

TEST(Machine, HasAnyNumberOfLevels) {
  if (!has_hwloc()) GTEST_SKIP() << "no hwloc";
  const Reading found =
      read_machine(Source::of("group:2 group:2 package:2 die:2 [numa] l3:2 l2:2 core:2 pu:2"));
  ASSERT_EQ(found.problem, "");
  EXPECT_GE(found.table.levels().size(), 7u);
  EXPECT_EQ(found.table.cpus().size(), 256u);
}

TEST(Machine, SaysWhatIsWrongWithADescription) {
  if (!has_hwloc()) GTEST_SKIP() << "no hwloc";
  EXPECT_THAT(read_machine(Source::of("packages of four")).problem,
              HasSubstr("'packages of four' is no topology: write levels"));
  EXPECT_THAT(read_machine(Source::of("/nowhere/host.xml")).problem, HasSubstr("/nowhere/host.xml"));
  for (const char* text :
       {"package:2 core:20000", "2 3000", "package:99999999999999999999999 core:2", "package:0x2000 core:2",
        "package:+9999 pu:1", "package: 9999 pu:1", "package:2(memory=1)9999", "package:[numa]9999"})
    EXPECT_THAT(read_machine(Source::of(text)).problem, HasSubstr("has more than 4096 processors")) << text;
  EXPECT_EQ(read_machine(Source::of("package:2 [numa(memory=99999)] core:4 pu:1")).problem, "");
  EXPECT_EQ(read_machine(Source::of("none")).problem, "");
}

// hwloc reads octal and hexadecimal numbers.
TEST(Machine, CountsPretendedProcessorsAsHwlocDoes) {
  if (!has_hwloc()) GTEST_SKIP() << "no hwloc";
  EXPECT_EQ(read_machine(Source::of("package:010 pu:1")).table.cpus().size(), 8u);
  EXPECT_EQ(read_machine(Source::of("package:0x10 core:0x1")).table.cpus().size(), 16u);
  EXPECT_EQ(read_machine(Source::of("package:0200 core:020")).table.cpus().size(), 2048u);
}

TEST(Machine, OfThisHostHasItsProcessors) {
  if (!has_hwloc()) GTEST_SKIP() << "no hwloc";
  const Reading here = read_machine(Source::of("auto"));
  for (const std::uint32_t cpu : cpus_of_this_thread())
    EXPECT_TRUE(std::ranges::binary_search(here.table.cpus(), cpu)) << cpu;
}

}  // namespace
}  // namespace aqueduct::topology
