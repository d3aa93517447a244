// A get of one word reads it by one load, so that the initiator never gets half of an update.

#include <aqueduct/aqueduct.hpp>

#include "tests/support/stepped.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace aqueduct {
namespace {

using support::Stepped;

class LoadedOnce : public testing::TestWithParam<const char*> {};

TEST_P(LoadedOnce, IsAWordThatIsGotten) {
  // Under a sanitizer each load becomes several instructions; some machines forbid ptrace.
  if (!Stepped::possible()) GTEST_SKIP() << "this build or machine does not step through instructions";
  Config config;
  for (const auto& [name, value] : {std::pair{"conduit", "loop"}, std::pair{"near", "off"},
                                    std::pair{"segment_bytes", "4K"}, std::pair{"loop_native", GetParam()}})
    ASSERT_TRUE(config.set(name, value)) << name;
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  Endpoint& me = job->endpoint(0);
  Endpoint& owner = job->endpoint(1);
  std::byte* const place = owner.segment().data() + 64;
  // After every instruction of the reader, all bytes of the word change together.
  const auto change = [place] {
    std::uint64_t word = 0;
    std::memcpy(&word, place, sizeof word);
    word = ~word;
    std::memcpy(place, &word, sizeof word);
  };
  for (const std::size_t bytes : {1, 2, 4, 8}) {
    for (int shift = 0; shift < 3; ++shift) {  // begins the copy with another value in place
      std::array<std::byte, 8> got{};
      const std::span<std::byte> word = std::span(got).first(bytes);
      Event event;
      for (int i = 0; i < shift; ++i) change();
      Stepped::run([&] { event = get_nb(me, word, GlobalPtr<std::byte>{1, 64}); }, change);
      for (int turn = 0; turn < 10 && !event.done(); ++turn) {
        Stepped::run([&] { owner.progress(); }, change);
        me.progress();
      }
      ASSERT_TRUE(event.done() && event.status());
      for (const std::byte one : word) EXPECT_EQ(one, word[0]) << bytes << " bytes";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(By, LoadedOnce, testing::Values("none", "all"), [](const auto& info) {
  return info.param == std::string("all") ? "Calls" : "Targets";
});

}  // namespace
}  // namespace aqueduct
