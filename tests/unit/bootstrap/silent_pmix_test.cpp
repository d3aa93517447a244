#include "bootstrap/pmix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

// Of the address sanitizer; null without it.
extern "C" [[gnu::weak]] void __lsan_disable();
extern "C" [[gnu::weak]] void __lsan_enable();

namespace aqueduct::bootstrap {
namespace {

using namespace std::chrono_literals;

#ifdef AQUEDUCT_SILENT_PMIX

constexpr auto kTimeout = 300ms;
constexpr auto kLongest = 20s;  // far from for ever, also under a sanitizer

class SilentPmix : public testing::Test {
 protected:
  // A PMIx that does not answer does not give back its shares of requests either.
  SilentPmix() {
    if (__lsan_disable != nullptr) __lsan_disable();
  }
  ~SilentPmix() override {
    if (__lsan_enable != nullptr) __lsan_enable();
    ::unsetenv("SILENT_PMIX");
  }

  Result<std::unique_ptr<Bootstrap>> join() {
    return from_pmix(AQUEDUCT_SILENT_PMIX, kTimeout, [this](std::string_view text) { said_ += text; });
  }

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::string said_;
};

TEST_F(SilentPmix, WhoseInitDoesNotReturnIsWaitedForUntilTheLimit) {
  ::setenv("SILENT_PMIX", "init", 1);
  EXPECT_EQ(join().status().code(), ErrorCode::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - begin_, kLongest);
  EXPECT_THAT(said_, testing::HasSubstr("has not answered in 300 ms"));
}

TEST_F(SilentPmix, ThatKeepsBackAValueIsWaitedForUntilTheLimit) {
  auto joined = join();
  ASSERT_TRUE(joined) << said_;
  EXPECT_EQ((*joined)->processes(), 2u);
  const auto exchanged = (*joined)->exchange({});
  EXPECT_EQ(exchanged.status().code(), ErrorCode::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - begin_, kLongest);
  EXPECT_THAT(said_, testing::HasSubstr("waited 300 ms for the values of process"));
  (*joined)->leave();
}

#endif

}  // namespace
}  // namespace aqueduct::bootstrap
