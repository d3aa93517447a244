// What calls whose blocks may differ are refused for, and what their members compare.

#include <aqueduct/aqueduct.hpp>

#include "coll/engine/checked_blocks.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

using aqueduct::detail::CollBlocksCall;
using List = std::vector<std::uint64_t>;

constexpr std::uint64_t kMost64 = std::numeric_limits<std::uint64_t>::max();

class CheckedBlocks : public testing::Test {
 protected:
  void SetUp() override { support::start_over_loop(job_, 3); }
  Status check(Rank member, const CollBlocksCall& call) {
    why_.clear();
    return check_blocks(job_->endpoint(member).world().state(), call, checked_, why_);
  }
  void refuses(Rank member, const CollBlocksCall& call, std::string_view why) {
    EXPECT_EQ(check(member, call).code(), ErrorCode::invalid_argument) << why;
    EXPECT_EQ(why_, why);
  }
  void fits(Rank member, const CollBlocksCall& call) {
    EXPECT_TRUE(check(member, call)) << why_;
    EXPECT_EQ(why_, "");
  }
  CollBlocksCall all_to_all(const CollBlocks& in_blocks, const CollBlocks& out_blocks) {
    return aqueduct::detail::coll_blocks_call(Collective::all_to_all_v, in_, in_blocks, out_, out_blocks, 0,
                                              {});
  }
  CollBlocksCall gather(std::span<const std::uint32_t> in, std::span<std::uint32_t> out,
                        const CollBlocks& blocks, Rank root) {
    return aqueduct::detail::coll_blocks_call(Collective::gather_v, in, {}, out, blocks, root, {});
  }
  CollBlocksCall permutation(Rank to, Rank from) {
    return aqueduct::detail::coll_permute_call(in_, out_, to, from, {});
  }
  /// What the members of a call find out together.
  BlockLengths compared(const std::function<CollBlocksCall(Rank)>& call) {
    BlockLengths all;
    for (Rank member = 0; member < 3; ++member) {
      fits(member, call(member));
      all.difference += checked_.mine.difference;
      all.longest = std::max(all.longest, checked_.mine.longest);
    }
    return all;
  }

  std::optional<Job> job_;
  BlocksCall checked_;
  std::string why_;
  std::array<std::uint32_t, 12> in_{};
  std::array<std::uint32_t, 12> out_{};
  const List fours_{4, 4, 4};
  const List apart_{0, 4, 8};
};

TEST_F(CheckedBlocks, RefuseListsThatAreNotAsLongAsTheTeam) {
  const List two{4, 4};
  refuses(0, all_to_all({two}, {fours_}),
          "in_blocks.counts has 2 numbers, but the team has 3 members: give one for each");
  refuses(0, all_to_all({fours_}, {}),
          "out_blocks.counts has 0 numbers, but the team has 3 members: give one for each");
  refuses(0, all_to_all({fours_}, {fours_, two}),
          "out_blocks.displacements has 2 numbers, but the team has 3 members: give one for each, or none");
}

TEST_F(CheckedBlocks, RefuseBlocksBeyondTheirBufferAndBeyond64Bits) {
  const List beyond{0, 4, 9};
  refuses(0, all_to_all({fours_, beyond}, {fours_}),
          "in_blocks gives block 2 4 elements from element 9 on, but in has 12 elements");
  const List five{4, 4, 5};
  refuses(0, all_to_all({fours_}, {five}),
          "out_blocks gives block 2 5 elements from element 8 on, but out has 12 elements");
  const List wraps{0, kMost64 - 2, 8};
  refuses(0, all_to_all({fours_}, {fours_, wraps}),
          "out_blocks gives block 1 4 elements from element 18446744073709551613 on, whose bytes cannot be "
          "counted in "
          "64 bits");
  // 4 bytes times this, cut to 64 bits, would be 4 bytes.
  const List wide{4, (std::uint64_t{1} << 62) + 1, 4};
  refuses(0, all_to_all({wide}, {fours_}),
          "in_blocks gives block 1 4611686018427387905 elements from element 4 on, whose bytes cannot be "
          "counted in 64 "
          "bits");
  // The place of an empty block is not looked at.
  const List empty{4, 0, 4};
  fits(1, all_to_all({empty, wraps}, {empty, wraps}));
}

TEST_F(CheckedBlocks, RefuseOutputsWhoseBlocksOverlap) {
  const List overlap{4, 0, 3}, twice{4, 8, 4}, backwards{8, 4, 0};
  refuses(0, all_to_all({fours_}, {fours_, overlap}),
          "out_blocks: blocks 1 and 2 overlap: each element of out belongs to one block");
  refuses(0, all_to_all({fours_}, {fours_, twice}),
          "out_blocks: blocks 0 and 2 overlap: each element of out belongs to one block");
  fits(0, all_to_all({fours_}, {fours_, backwards}));
  fits(0, all_to_all({fours_, overlap}, {fours_}));
}

TEST_F(CheckedBlocks, RefuseBuffersThatOverlap) {
  const std::span<std::uint32_t> all = out_;
  fits(1, gather(all.subspan(4, 4), all, {fours_}, 1));
  refuses(1, gather(all.subspan(3, 4), all, {fours_}, 1),
          "in and out overlap: in may be all of block 1 of out, or none of its bytes");
  fits(2, gather(all.subspan(3, 4), all, {fours_}, 1));  // its output is not used
  CollBlocksCall same = all_to_all({fours_}, {fours_});
  same.out = same.in;
  refuses(0, same, "in and out overlap: this operation has no form in place, so pass two buffers");
}

// What lies before the first block of a buffer is no part of the call, and may hold the other buffer.
TEST_F(CheckedBlocks, MayLieBeforeTheFirstBlockOfTheOtherBuffer) {
  std::array<std::uint32_t, 36> memory{};
  const std::span<std::uint32_t> all = memory;
  const List behind{12, 16, 20}, touching{20, 11, 16};
  const auto one_array = [&](const CollBlocks& in_blocks, const CollBlocks& out_blocks) {
    return aqueduct::detail::coll_blocks_call(Collective::all_to_all_v, all, in_blocks, all, out_blocks, 0,
                                              {});
  };
  fits(0, one_array({fours_, behind}, {fours_}));
  fits(0, one_array({fours_}, {fours_, behind}));
  constexpr auto kNotInPlace = "in and out overlap: this operation has no form in place, so pass two buffers";
  refuses(0, one_array({fours_, touching}, {fours_}), kNotInPlace);
  refuses(0, one_array({fours_}, {fours_, touching}), kNotInPlace);
  // An empty block has no place.
  const List last_empty{4, 4, 0}, zero_last{12, 16, 0};
  fits(0, one_array({last_empty, zero_last}, {last_empty}));
  // A gap between two blocks belongs to the buffer.
  const List around{0, 24, 28}, between{12, 16, 20};
  refuses(0, one_array({fours_, around}, {fours_, between}), kNotInPlace);

  fits(1, gather(all.first(4), all, {fours_, behind}, 1));
  refuses(1, gather(all.subspan(9, 4), all, {fours_, behind}, 1),
          "in and out overlap: in may be all of block 1 of out, or none of its bytes");
  const auto scatter = [&](std::span<std::uint32_t> out) {
    return aqueduct::detail::coll_blocks_call(Collective::scatter_v, all, {fours_, behind}, out, {}, 1, {});
  };
  fits(1, scatter(all.first(4)));
  refuses(1, scatter(all.subspan(9, 4)),
          "in and out overlap: out may be all of block 1 of in, or none of its bytes");
  std::span<std::uint32_t> own = all.first(4);
  const auto all_gather = [&] {
    return aqueduct::detail::coll_blocks_call(Collective::all_gather_v, own, {}, all, {fours_, behind}, 0,
                                              {});
  };
  fits(2, all_gather());
  own = all.subspan(9, 4);
  refuses(2, all_gather(), "in and out overlap: in may be all of block 2 of out, or none of its bytes");
}

TEST_F(CheckedBlocks, RefuseAnOwnBlockWithTwoLengths) {
  const List five{4, 3, 4};
  refuses(1, all_to_all({fours_}, {five}),
          "this member's own block has 16 bytes in in and 12 in out: give both the same length");
  fits(0, all_to_all({fours_}, {five}));
}

TEST_F(CheckedBlocks, RefusePlacesOnAllMembersAndMissingBuffers) {
  CollBlocksCall call = all_to_all({fours_}, {fours_});
  call.in.where = aqueduct::detail::CollBuffer::Where::common;
  refuses(0, call, "in is a place on all members: this operation takes memory of this member");
  call.in.where = aqueduct::detail::CollBuffer::Where::nowhere;
  refuses(0, call, "in is missing: pass a buffer");
  call = all_to_all({fours_}, {fours_});
  call.out.memory = nullptr;
  refuses(0, call, "out is a null pointer and has 48 bytes: pass memory, or no elements");
}

TEST_F(CheckedBlocks, RefuseMembersThatDoNotExist) {
  refuses(0, permutation(3, kNoRank),
          "to is 3, but the members of the team are 0 to 2: Team::index_of gives a rank's index");
  refuses(0, permutation(1, 3),
          "from is 3, but the members of the team are 0 to 2: give none if it is not known");
  refuses(0, permutation(0, 1), "to is 0 and from is 1: member 0 sends to itself, or it does not");
  refuses(0, gather(in_, out_, {fours_}, 3),
          "root is 3, but the members of the team are 0 to 2: Team::index_of gives a rank's index");
  CollBlocksCall shorter = permutation(1, kNoRank);
  shorter.out.bytes = 44;
  refuses(0, shorter, "in has 48 bytes and out has 44: pass as many elements in both");
}

TEST_F(CheckedBlocks, FindTheBlocksAndTakeTheOwnOneOut) {
  const List gaps{9, 5, 0}, counts{2, 3, 4};
  fits(1, all_to_all({counts, gaps}, {counts}));
  EXPECT_EQ(checked_.sends, (std::vector<BlockAt>{{36, 8}, {20, 0}, {0, 16}}));
  EXPECT_EQ(checked_.receives, (std::vector<BlockAt>{{0, 8}, {8, 0}, {20, 16}}));
  EXPECT_EQ(checked_.own_from, (BlockAt{20, 12}));
  EXPECT_EQ(checked_.own_to, (BlockAt{8, 12}));
  EXPECT_EQ(checked_.mine.longest, 16u);
}

TEST_F(CheckedBlocks, CompareTheLengthsOfAllPairs) {
  const std::array<List, 3> rows{List{1, 2, 0}, List{0, 3, 4}, List{5, 0, 2}};
  const std::array<List, 3> columns{List{1, 0, 5}, List{2, 3, 0}, List{0, 4, 2}};
  const auto call = [&](Rank member) { return all_to_all({rows[member]}, {columns[member]}); };
  EXPECT_EQ(compared(call), (BlockLengths{0, 20}));
  const List wrong{0, 3, 2};  // of column 2
  const auto other = [&](Rank member) { return member == 2 ? all_to_all({rows[2]}, {wrong}) : call(member); };
  EXPECT_NE(compared(other).difference, 0u);
  // The same lengths between other members.
  const std::array<List, 3> swapped{List{1, 5, 0}, List{2, 3, 0}, List{0, 4, 2}};
  EXPECT_NE(compared([&](Rank member) { return all_to_all({rows[member]}, {swapped[member]}); }).difference,
            0u);
}

TEST_F(CheckedBlocks, CompareDestinationsAndSources) {
  const auto around = [&](Rank member) { return permutation((member + 1) % 3, kNoRank); };
  EXPECT_EQ(compared(around), (BlockLengths{0, 48}));
  EXPECT_EQ(compared([&](Rank member) { return permutation((member + 1) % 3, (member + 2) % 3); }).difference,
            0u);
  EXPECT_NE(compared([&](Rank member) { return permutation((member + 1) % 3, (member + 1) % 3); }).difference,
            0u);
  EXPECT_NE(
      compared([&](Rank member) { return permutation(member == 2 ? 1 : member + 1, kNoRank); }).difference,
      0u);
  EXPECT_EQ(compared([&](Rank member) { return permutation(member, member); }), (BlockLengths{0, 0}));
}

}  // namespace
}  // namespace aqueduct::coll
