#include "conduits/ucx/context.hpp"
#include "conduits/ucx/library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

namespace aqueduct::conduits::ucx {
namespace {

using ::testing::HasSubstr;

std::array<void*, NSIG> handlers() {
  std::array<void*, NSIG> found{};
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) == 0)
      found[number] = reinterpret_cast<void*>(action.sa_handler);
  }
  return found;
}

// Each test runs in its own process, because UCX is loaded once per process.
TEST(UcxLibraryDeathTest, LeavesSignalsAndEnvironmentAsTheyWere) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto play = [] {
    const auto before = handlers();
    std::string why;
    const auto ucp = Library::load(why);
    const bool clean = ucp && handlers() == before && std::getenv("UCX_HANDLE_ERRORS") == nullptr &&
                       std::getenv("UCX_LOG_LEVEL") == nullptr && std::getenv("UCX_MEM_EVENTS") == nullptr;
    std::_Exit(clean ? 0 : 1);
  };
  EXPECT_EXIT(play(), ::testing::ExitedWithCode(0), "^$") << "and it prints nothing";
}

TEST(UcxLibraryDeathTest, HeedsWhatTheEnvironmentSays) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto play = [] {
    ::setenv("UCX_HANDLE_ERRORS", "bt", 1);
    const auto before = handlers();
    std::string why;
    const auto ucp = Library::load(why);
    const bool heeded = ucp && handlers() != before && std::getenv("UCX_HANDLE_ERRORS") == std::string("bt");
    std::_Exit(heeded ? 0 : 1);
  };
  EXPECT_EXIT(play(), ::testing::ExitedWithCode(0), "");
}

TEST(UcxContext, SaysWhichTransportsThereAre) {
  std::string why;
  ContextOptions options;
  options.transports = "tcp,self";
  const auto context = Context::open(options, why);
  ASSERT_NE(context, nullptr) << why;
  EXPECT_TRUE(context->has("tcp"));
  EXPECT_TRUE(context->has("self"));
  EXPECT_FALSE(context->has("tc"));
  EXPECT_FALSE(context->shares_memory());
  EXPECT_GE(context->ucp().version(), "1.13");
  EXPECT_THAT(context->network(), ::testing::StartsWith("tcp/"));
  EXPECT_THAT(context->network(), ::testing::Not(HasSubstr("self/")))
      << "a rank's way to itself says nothing";
  options.transports = "posix,self";
  const auto memory = Context::open(options, why);
  ASSERT_NE(memory, nullptr) << why;
  EXPECT_NE(memory->network(), context->network());
}

TEST(UcxContext, OfRanksOfOtherHostsOnlyHasNoSharedMemoryAndNoLoopback) {
  std::string why;
  ContextOptions options;
  options.one_host = false;
  options.other_hosts_only = true;
  const auto context = Context::open(options, why);
  ASSERT_NE(context, nullptr) << why;
  EXPECT_FALSE(context->shares_memory());
  EXPECT_THAT(context->resources(), ::testing::Not(::testing::Contains("tcp/lo")));
}

TEST(UcxContext, ThatCannotBeOpenedSaysWhatWasAskedFor) {
  std::string why;
  ContextOptions options;
  options.transports = "warp";
  EXPECT_EQ(Context::open(options, why), nullptr);
  EXPECT_THAT(why, HasSubstr("AQUEDUCT_UCX_TRANSPORTS is 'warp'"));
  EXPECT_THAT(why, HasSubstr("ucx_info -d"));
  options.transports = "tcp";
  options.devices = "no-such-device0";
  EXPECT_EQ(Context::open(options, why), nullptr);
  EXPECT_THAT(why, HasSubstr("no-such-device0"));
}

// UCX goes on without the device: with shared memory only, or with the others of the list.
TEST(UcxContext, OfADeviceThatIsNotThereSaysWhichThereAre) {
  for (const char* devices : {"no-such-device0", "lo,no-such-device0"}) {
    std::string why;
    ContextOptions options;
    options.devices = devices;
    EXPECT_EQ(Context::open(options, why), nullptr) << devices;
    EXPECT_THAT(why, HasSubstr("names 'no-such-device0', which UCX does not have here: it has"));
    EXPECT_THAT(why, HasSubstr("lo"));
  }
  std::string why;
  ContextOptions options;
  for (const char* devices : {"lo", "^lo,no-such-device0"}) {
    options.devices = devices;
    EXPECT_NE(Context::open(options, why), nullptr) << why;
  }
}

}  // namespace
}  // namespace aqueduct::conduits::ucx
