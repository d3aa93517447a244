// Which sizes of pieces are fast, on injected figures.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/piece_sizes.hpp>

#include "core/network_profile.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>

namespace aqueduct {
namespace {

using Range = PieceSizes::Range;
using Verdict = PieceSizes::Verdict;
using testing::ElementsAre;

NetworkCost cost_from(std::uint64_t bytes, std::int64_t gap, std::uint64_t per_byte) {
  return {bytes, Picoseconds(1'000'000), Picoseconds(0), Picoseconds(gap), per_byte, Picoseconds(0)};
}

TEST(PieceSizes, AreGoodWhereTheGapNoLongerCounts) {
  NetworkModel model;
  model.by_size[0] = cost_from(0, 1'000'000, 100'000);  // 1 us for each, as long as 10,000 bytes take
  const PieceSizes sizes = piece_sizes(model);
  EXPECT_THAT(sizes.ranges, ElementsAre(Range{8, 16'383, Verdict::bad}, Range{16'384, 131'071, Verdict::fair},
                                        Range{131'072, std::uint64_t{16} << 20, Verdict::good}));
  EXPECT_EQ(sizes.piece, 131'072u);
  EXPECT_FALSE(sizes.is_set);
  EXPECT_EQ(sizes.of(1), Verdict::bad);
  EXPECT_EQ(sizes.of(16'383), Verdict::bad);
  EXPECT_EQ(sizes.of(100'000), Verdict::fair);
  EXPECT_EQ(sizes.of(std::uint64_t{1} << 40), Verdict::good);
}

// As copies that leave the last cache: from 1 MiB on a byte takes three times as long.
TEST(PieceSizes, AreBadAgainWhereBytesTakeLonger) {
  NetworkModel model;
  model.sizes = 3;
  model.by_size[0] = cost_from(0, 10'000, 50'000);
  model.by_size[1] = cost_from(1 << 20, 10'000, 150'000);
  model.by_size[2] = cost_from(4 << 20, 10'000, 70'000);
  const PieceSizes sizes = piece_sizes(model);
  EXPECT_EQ(sizes.of(512 << 10), Verdict::good);
  EXPECT_EQ(sizes.of(1 << 20), Verdict::bad);
  EXPECT_EQ(sizes.of((4 << 20) - 1), Verdict::bad);
  EXPECT_EQ(sizes.of(4 << 20), Verdict::fair);
  EXPECT_EQ(sizes.of(sizes.piece), Verdict::good);
  EXPECT_LE(sizes.piece, 4096u);
}

TEST(PieceSizes, OfAModelOfZeroesHaveAPiece) { EXPECT_NE(piece_sizes(NetworkModel()).piece, 0u); }

constexpr const char* kProfile = R"({"format": "aqueduct-network-profile", "version": 1, "machine": "%s",
  "conduit": "loop", "levels": {"host": {"injection_depth": 32, "inline_limit": 64, "peak_bytes": 8192,
  "rendezvous_limit": 0, "copy_femtoseconds_per_byte": 5, "reduce_femtoseconds_per_byte": 6, "good_sizes": [[1, 2]],
  "costs": [{"bytes": 0, "latency_ps": 1000, "overhead_ps": 0, "gap_ps": 1000000, "femtoseconds_per_byte": 100000}]}}})";

TEST(PieceSizes, ComeFromTheProfileOrFromTheSettingOfThePeersClass) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "profile.json").string();
  std::string text = kProfile;
  text.replace(text.find("%s"), 2, core::machine_name());
  std::ofstream(file) << text;
  for (const char* set : {"0", "24K"}) {
    Config config;
    for (const auto& [name, value] :
         {std::pair{"conduit", "loop"}, std::pair{"near", "off"}, std::pair{"network_profile", file.c_str()},
          std::pair{"piece_bytes_host", set}, std::pair{"piece_bytes_network", "1K"}})
      ASSERT_TRUE(config.set(name, value)) << name;
    auto job = Job::in_process(2, config);
    ASSERT_TRUE(job) << job.status().text();
    const PieceSizes sizes = piece_sizes(job->endpoint(0), 1);
    EXPECT_EQ(sizes.origin, NetworkModel::Origin::profile);
    EXPECT_EQ(sizes.ranges.size(), 3u) << "by the costs, whatever the setting says";
    EXPECT_EQ(sizes.is_set, set != std::string("0"));
    EXPECT_EQ(sizes.piece, sizes.is_set ? 24u << 10 : 131'072u);
    job->run_each([](Endpoint&) {});
    EXPECT_TRUE(job->finish());
  }
}

}  // namespace
}  // namespace aqueduct
