#include "conduits/udp/carrier/fault_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::conduits::udp {
namespace {

using testing::HasSubstr;

TEST(UdpFaultPlan, IsReadFromText) {
  const auto [plan, problem] = parse_fault_plan(
      "loss=1%,delay=1ms,jitter=0.5ms,reorder=25%,hold=80us,duplicate=5%,corrupt=0.1%,corrupt_bytes=64,mtu="
      "1400,rate=100M,"
      "queue=256K,seed=7");
  EXPECT_EQ(problem, "");
  EXPECT_DOUBLE_EQ(plan.loss, 0.01);
  EXPECT_EQ(plan.delay, kMillisecond);
  EXPECT_EQ(plan.jitter, 500 * kMicrosecond);
  EXPECT_DOUBLE_EQ(plan.reorder, 0.25);
  EXPECT_EQ(plan.hold, 80 * kMicrosecond);
  EXPECT_DOUBLE_EQ(plan.duplicate, 0.05);
  EXPECT_DOUBLE_EQ(plan.corrupt, 0.001);
  EXPECT_EQ(plan.corrupt_bytes, 64u);
  EXPECT_EQ(plan.mtu, 1400u);
  EXPECT_DOUBLE_EQ(plan.rate, 100.0 * 1024 * 1024);
  EXPECT_EQ(plan.queue, 256u * 1024);
  EXPECT_EQ(plan.seed, 7u);
}

TEST(UdpFaultPlan, IsEmptyWithoutText) {
  const auto [plan, problem] = parse_fault_plan("");
  EXPECT_EQ(problem, "");
  EXPECT_FALSE(plan.any());
}

TEST(UdpFaultPlan, KnowsWhetherItDoesAnything) {
  for (const char* text :
       {"loss=1%", "delay=1us", "reorder=1%", "duplicate=1%", "corrupt=1%", "mtu=1", "rate=1"}) {
    EXPECT_TRUE(parse_fault_plan(text).plan.any()) << text;
  }
  EXPECT_FALSE(parse_fault_plan("seed=9,hold=1ms,queue=1K,loss=0%").plan.any());
}

TEST(UdpFaultPlan, TakesTheEdgesOfWhatIsAllowed) {
  EXPECT_EQ(parse_fault_plan("loss=100%").plan.loss, 1);
  EXPECT_EQ(parse_fault_plan("delay=60s").plan.delay, 60 * kSecond);
  EXPECT_EQ(parse_fault_plan("delay=1ns,jitter=1ns").problem, "");
  EXPECT_EQ(parse_fault_plan("seed=18446744073709551615").plan.seed, UINT64_MAX);
}

TEST(UdpFaultPlan, SaysWhatIsWrong) {
  struct Case {
    const char* text;
    std::vector<const char*> words;
  };
  const Case cases[] = {
      {"lost=1%", {"\"lost\"", "loss, delay, jitter"}},
      {"loss", {"\"loss\"", "no value"}},
      {"loss=1", {"loss", "\"1\"", "percentage"}},
      {"loss=", {"loss", "percentage"}},
      {"loss=101%", {"\"101%\"", "0% to 100%"}},
      {"loss=-1%", {"\"-1%\""}},
      {"loss=nan%", {"\"nan%\""}},
      {"delay=1", {"delay", "unit"}},
      {"delay=61s", {"\"61s\"", "60 s"}},
      {"delay=1ms,jitter=2ms", {"jitter", "longer"}},
      {"mtu=1.4X", {"mtu", "number of bytes"}},
      {"rate=fast", {"rate", "bytes per second"}},
      {"seed=1.5", {"seed", "whole number"}},
      {"loss=1%,", {}},
      {"loss=1%,,delay=1ms", {"no value"}},
      {"loss=1%, delay=1ms", {"\" delay\""}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.text);
    const auto [plan, problem] = parse_fault_plan(one.text);
    EXPECT_EQ(problem.empty(), one.words.empty()) << problem;
    if (!problem.empty()) {
      EXPECT_THAT(problem, HasSubstr("AQUEDUCT_UDP_FAULTS"));
      EXPECT_FALSE(plan.any());
    }
    for (const char* word : one.words) EXPECT_THAT(problem, HasSubstr(word));
  }
}

}  // namespace
}  // namespace aqueduct::conduits::udp
