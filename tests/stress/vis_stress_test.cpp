// Ten million pieces in one transfer: correct, and in bounded memory.

#include <aqueduct/aqueduct.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include <sys/resource.h>

namespace aqueduct {
namespace {

constexpr std::size_t kPieces = 10'000'000;

/// The peak memory of this process, in KiB.
long most_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(VisStress, TenMillionPiecesNeedNoMemoryForEach) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  ASSERT_TRUE(config.set("segment_bytes", "64M"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& me) {
    std::ranges::fill(me.segment(), std::byte{1});  // touches its pages
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 0) {
      std::vector<std::int64_t> offsets(kPieces);
      std::vector<std::uint32_t> values(kPieces);
      std::iota(values.begin(), values.end(), 1u);
      for (std::size_t i = 0; i < kPieces; ++i) {
        offsets[i] =
            static_cast<std::int64_t>(6 * i + (i * 2654435761u >> 7) % 3);  // irregular, without overlaps
      }
      std::vector<std::uint32_t> back(kPieces);
      const auto there = pieces(GlobalPtr<std::byte>{1, 0}, Indexed{offsets, 4});
      const long before = most_memory();
      ASSERT_TRUE(put(me, there, contiguous(values.data(), kPieces)));
      ASSERT_TRUE(get(me, contiguous(back.data(), kPieces), there));
      EXPECT_LT(most_memory() - before, 4 * 1024) << "KiB";
      EXPECT_TRUE(back == values);
      const Statistics done = me.statistics();
      EXPECT_EQ(done.vis_packed + done.vis_box, 2u) << "neither copied nor piece by piece";
    }
    ASSERT_TRUE(me.barrier());
  });
  ASSERT_TRUE(job->finish());
}

}  // namespace
}  // namespace aqueduct
