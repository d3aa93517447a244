#include "tools/aqrun/hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace aqrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Host> hosts(const std::string& text) {
  std::istringstream in(text);
  const auto read = read_hosts(in, "file");
  const auto* why = std::get_if<std::string>(&read);
  EXPECT_EQ(why, nullptr) << *why;
  return why == nullptr ? std::get<std::vector<Host>>(read) : std::vector<Host>{};
}

std::string complaint_of_hosts(const std::string& text) {
  std::istringstream in(text);
  const auto read = read_hosts(in, "file");
  const auto* why = std::get_if<std::string>(&read);
  return why != nullptr ? *why : "none";
}

TEST(AqrunHosts, AreReadWithSlotsAndComments) {
  EXPECT_THAT(
      hosts("# all of them\n a slots=2\n\nuser@b.example\tslots=10 # the big one\nfe80::1%eth0 slots=1"),
      ElementsAre(Host{"a", 2}, Host{"user@b.example", 10}, Host{"fe80::1%eth0", 1}));
  EXPECT_THAT(hosts("a\r\nb\n"), ElementsAre(Host{"a", 0}, Host{"b", 0}));
}

TEST(AqrunHosts, AreRefusedWithTheLineAndTheReason) {
  EXPECT_THAT(complaint_of_hosts(""), HasSubstr("file: there is no host in it"));
  EXPECT_THAT(complaint_of_hosts("# a\n\n"), HasSubstr("there is no host"));
  EXPECT_THAT(complaint_of_hosts("a\nb\na\n"), HasSubstr("file:3: host a is there already"));
  EXPECT_THAT(complaint_of_hosts("a\n-oProxyCommand=x\n"),
              HasSubstr("file:2: '-oProxyCommand=x' is not a valid host name"));
  EXPECT_THAT(complaint_of_hosts("a;b\n"), HasSubstr("is not a valid host name"));
  EXPECT_THAT(complaint_of_hosts("a slots=2\nb\n"), HasSubstr("file:2: some hosts have slots="));
  EXPECT_THAT(complaint_of_hosts("a slots=2 b\n"), HasSubstr("b after slots="));
  for (const char* word : {"slots=0", "slots=", "slots=x", "slots=-1", "slots=4x", "slots=99999999999", "4"})
    EXPECT_THAT(complaint_of_hosts(std::string("a ") + word), HasSubstr(word));
}

TEST(AqrunHosts, AreRefusedInReadableWordsIfTheFileIsNoText) {
  EXPECT_THAT(complaint_of_hosts("a\n\x1b[2J\xff\n"), HasSubstr("file:2: '?[2J?' is not a valid host name"));
  EXPECT_THAT(complaint_of_hosts(std::string("a\0b\n", 4)), HasSubstr("'a?b' is not a valid host name"));
  EXPECT_THAT(complaint_of_hosts(std::string(4096, 'a')), "none");
  EXPECT_THAT(complaint_of_hosts("b\n" + std::string(4097, 'a')),
              HasSubstr("file:2: the line is longer than 4096 characters"));
}

TEST(AqrunHosts, ThatCannotBeOpenedAreNamed) {
  const auto read = read_hosts_file("/no/such/file");
  EXPECT_EQ(std::get<std::string>(read), "/no/such/file: No such file or directory");
  EXPECT_EQ(std::get<std::string>(read_hosts_file("/tmp")),
            "/tmp: it is a folder; name a file of which a line is: name [slots=K]");
}

std::vector<Share> shares(const std::vector<Host>& hosts, std::uint32_t ranks, std::uint32_t each = 1) {
  const auto placed = place(hosts, ranks, each);
  const auto* why = std::get_if<std::string>(&placed);
  EXPECT_EQ(why, nullptr) << *why;
  return why == nullptr ? std::get<std::vector<Share>>(placed) : std::vector<Share>{};
}

TEST(AqrunHosts, AreFilledOneAfterTheOther) {
  const std::vector<Host> all{{"a", 2}, {"b", 3}, {"c", 4}};
  EXPECT_THAT(shares(all, 6), ElementsAre(Share{"a", 0, 2}, Share{"b", 2, 3}, Share{"c", 5, 1}));
  EXPECT_THAT(shares(all, 2), ElementsAre(Share{"a", 0, 2}));
  EXPECT_THAT(shares(all, 9), ElementsAre(Share{"a", 0, 2}, Share{"b", 2, 3}, Share{"c", 5, 4}));
}

TEST(AqrunHosts, ShareEvenlyWithoutSlots) {
  const std::vector<Host> all{{"a", 0}, {"b", 0}, {"c", 0}};
  EXPECT_THAT(shares(all, 8), ElementsAre(Share{"a", 0, 3}, Share{"b", 3, 3}, Share{"c", 6, 2}));
  EXPECT_THAT(shares(all, 2), ElementsAre(Share{"a", 0, 1}, Share{"b", 1, 1}));
}

TEST(AqrunHosts, GiveAProcessAsManySlotsAsItHasRanks) {
  EXPECT_THAT(shares({{"a", 4}, {"b", 3}}, 6, 2), ElementsAre(Share{"a", 0, 2}, Share{"b", 2, 1}));
}

TEST(AqrunHosts, GiveTheLastProcessAsManySlotsAsItHasRanks) {
  EXPECT_THAT(shares({{"a", 4}, {"b", 1}}, 5, 2), ElementsAre(Share{"a", 0, 2}, Share{"b", 2, 1}));
  EXPECT_THAT(shares({{"a", 5}}, 5, 2), ElementsAre(Share{"a", 0, 3}));
  EXPECT_THAT(shares({{"a", 3}, {"b", 3}}, 5, 2), ElementsAre(Share{"a", 0, 1}, Share{"b", 1, 2}));
  EXPECT_THAT(shares({{"a", 1}}, 1, 4), ElementsAre(Share{"a", 0, 1}));
  EXPECT_THAT(shares({{"a", 0}, {"b", 0}}, 5, 2), ElementsAre(Share{"a", 0, 2}, Share{"b", 2, 1}));
  EXPECT_THAT(std::get<std::string>(place({{"a", 4}}, 5, 2)), HasSubstr("the 4 slots of all hosts"));
}

TEST(AqrunHosts, AreNotOverfilled) {
  EXPECT_THAT(std::get<std::string>(place({{"a", 2}, {"b", 3}}, 6, 1)),
              HasSubstr("the 5 slots of all hosts"));
  EXPECT_THAT(std::get<std::string>(place({{"a", 1}, {"b", 3}}, 4, 2)), HasSubstr("2 for each process"));
}

}  // namespace
}  // namespace aqrun
