#include "tools/aqrun/agent_setup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

AgentSetup after(std::vector<Frame> frames) {
  AgentSetup setup;
  for (Frame& frame : frames) setup.take(frame);
  return setup;
}

TEST(AqrunAgentSetup, CollectsWhatIsToBeStarted) {
  const AgentSetup setup = after({hello_of_this_version(),
                                  {Kind::folder, 0, 0, "/work"},
                                  {Kind::argument, 0, 0, "prog"},
                                  {Kind::argument, 0, 0, "a b"},
                                  {Kind::variable, 0, 0, "A=1"},
                                  {Kind::process, 2, 3, "fd:9,process:2,processes:4,job:77"},
                                  {Kind::process, 3, 1, "fd:9,process:3,processes:4,job:77"},
                                  {Kind::start, 0, 1, {}}});
  EXPECT_EQ(setup.problem, "");
  EXPECT_TRUE(setup.complete);
  EXPECT_TRUE(setup.reads_input);
  EXPECT_EQ(setup.folder, "/work");
  EXPECT_THAT(setup.program, ElementsAre("prog", "a b"));
  EXPECT_THAT(setup.environment, ElementsAre("A=1"));
  ASSERT_EQ(setup.processes.size(), 2u);
  EXPECT_EQ(setup.processes[1].about.process, 3u);
  EXPECT_THAT(setup.ranks_of_processes(), ElementsAre(3u, 1u));
}

TEST(AqrunAgentSetup, RefusesWhatDoesNotFit) {
  const std::string about = "fd:9,process:2,processes:4,job:77";
  EXPECT_NE(after({{Kind::process, 1, 0, about}}).problem, "");
  EXPECT_NE(after({{Kind::process, 2, 0, "process:2"}}).problem, "");
  EXPECT_NE(after({{Kind::process, 2, 0, about}, {Kind::process, 2, 0, about}}).problem, "");
  EXPECT_NE(after({{Kind::input, 0, 0, "x"}}).problem, "");
  EXPECT_NE(after({{Kind::start, 0, 0, {}}}).problem, "");
}

TEST(AqrunAgentSetup, RefusesOtherVersionsAndSaysWhich) {
  EXPECT_EQ(complaint_about_hello(hello_of_this_version()), "");
  Frame other = hello_of_this_version();
  other.number = kAgentProtocol + 1;
  EXPECT_THAT(complaint_about_hello(other), HasSubstr("agent protocol 2"));
  other = {Kind::hello, 0, kAgentProtocol, std::string(kAgentMagic) + "9.8.7"};
  EXPECT_THAT(complaint_about_hello(other), HasSubstr("version 9.8.7"));
  EXPECT_THAT(complaint_about_hello({Kind::hello, 0, kAgentProtocol, "hi"}),
              HasSubstr("does not come from an agent"));
  EXPECT_THAT(complaint_about_hello({Kind::start, 0, 0, {}}), HasSubstr("does not come from an agent"));
}

}  // namespace
}  // namespace aqrun
