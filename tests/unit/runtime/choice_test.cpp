#include "runtime/choice.hpp"

#include <gtest/gtest.h>

#include <string>

namespace aqueduct::runtime {
namespace {

/// The reason why this conduit is refused for a job on several hosts.
std::string refusal(const std::string& conduit) {
  Config config;
  EXPECT_TRUE(config.set("conduit", conduit));
  std::string said;
  core::Log log(core::LogLevel::error, [&](core::LogLevel, std::string_view line) { said += line; });
  const auto choice = choose_conduits(config, {.one_host = false, .one_process = false}, log);
  EXPECT_EQ(choice.status().code(), choice ? ErrorCode::ok : ErrorCode::not_supported);
  return said;
}

TEST(Choice, OfAConduitForOneHostIsRefusedOnSeveralWithWhatToTry) {
  for (const std::string name : {"smp", "loop"}) {
    const std::string said = refusal(name);
    EXPECT_EQ(said.find("AQUEDUCT_CONDUIT=" + name + " serves ranks of one host only"), 0u) << said;
    EXPECT_NE(said.find("leave it out"), std::string::npos) << said;
    EXPECT_NE(said.find("udp"), std::string::npos) << said;
  }
}

TEST(Choice, OfOneThatCrossesHostsIsTakenBetweenThem) {
  EXPECT_EQ(refusal("udp"), "");
  EXPECT_EQ(refusal("auto"), "");
}

}  // namespace
}  // namespace aqueduct::runtime
