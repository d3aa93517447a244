#include "tools/aqrun/remote_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace aqrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words(const std::string& text, const std::string& host,
                               const std::vector<std::string>& command) {
  const auto parsed = RemoteCommand::parse(text);
  const auto* why = std::get_if<std::string>(&parsed);
  EXPECT_EQ(why, nullptr) << *why;
  return why == nullptr ? std::get<RemoteCommand>(parsed).words(host, command) : std::vector<std::string>{};
}

std::string complaint_of_command(const std::string& text) {
  const auto parsed = RemoteCommand::parse(text);
  const auto* why = std::get_if<std::string>(&parsed);
  return why != nullptr ? *why : "none";
}

TEST(AqrunRemoteCommand, KeepsWordsApartWithoutAShell) {
  EXPECT_THAT(words("ip  netns exec {host} {command}", "b", {"/a b/aqrun", "--agent"}),
              ElementsAre("ip", "netns", "exec", "b", "/a b/aqrun", "--agent"));
}

TEST(AqrunRemoteCommand, GivesAShellOneWord) {
  EXPECT_THAT(words(kSshTemplate, "me@b", {"/a b/aqrun", "--agent"}),
              ElementsAre("ssh", "-o", "BatchMode=yes", "-o", "ControlMaster=no", "-o",
                          "ServerAliveInterval=15", "me@b", "'/a b/aqrun' '--agent'"));
}

TEST(AqrunRemoteCommand, PutsTheHostAnywhere) {
  EXPECT_THAT(words("x --at={host},{host} {command} {host}", "b", {"c"}),
              ElementsAre("x", "--at=b,b", "c", "b"));
}

TEST(AqrunRemoteCommand, NeedsTheCommandOnceAsAWord) {
  EXPECT_THAT(complaint_of_command(""), HasSubstr("{command} once"));
  EXPECT_THAT(complaint_of_command("ssh {host}"), HasSubstr("{command} once"));
  EXPECT_THAT(complaint_of_command("sh {command} {shell-command}"), HasSubstr("{command} once"));
  EXPECT_THAT(complaint_of_command("sh -c={command}"), HasSubstr("words of their own"));
}

TEST(AqrunRemoteCommand, ComesThroughARealShellAsItWas) {
  const std::vector<std::string> command{"printf", "<%s>", "a b", "it's", "$HOME `x` \"q\" \\ *", "", "#;&|"};
  FILE* pipe = ::popen(quoted_for_shell(command).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::array<char, 256> text{};
  const std::string said(text.data(), std::fread(text.data(), 1, text.size(), pipe));
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(said, "<a b><it's><$HOME `x` \"q\" \\ *><><#;&|>");
}

}  // namespace
}  // namespace aqrun
