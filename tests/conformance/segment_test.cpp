#include <aqueduct/segment.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>

namespace aqueduct::conformance {
namespace {

class Segments : public FabricTest {};

TEST_P(Segments, PrimaryIsZeroedAndOfTheSizeAskedFor) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4095}, std::size_t{1 << 20}}) {
    as_each_of(2, bytes, [bytes](Endpoint& me) {
      ASSERT_EQ(me.segment().size(), bytes);
      EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
      EXPECT_EQ(me.segment_bytes(next(me)), bytes);
      EXPECT_EQ(me.segment_bytes(me.ranks()), 0u);
      EXPECT_EQ(me.segment_bytes(0, 99), 0u);
      EXPECT_TRUE(me.segment_of(99).empty());
      ASSERT_TRUE(me.barrier());
    });
  }
}

/// Writes to all ranks' parts of a segment and checks this rank's. Every part that
/// is not empty needs 64 bytes for each rank.
void use(Endpoint& me, SegmentId id) {
  const auto sent = pattern(100 * id + me.rank(), 64);
  for (Rank to = 0; to < me.ranks(); ++to) {
    if (me.segment_bytes(to, id) == 0) continue;
    ASSERT_TRUE(put(me, GlobalPtr<std::byte>{to, 64 * me.rank(), id}, sent)) << "to rank " << to;
  }
  ASSERT_TRUE(me.barrier());
  for (Rank from = 0; from < me.ranks() && !me.segment_of(id).empty(); ++from) {
    ASSERT_TRUE(holds(me.segment_of(id).subspan(64 * from, 64), pattern(100 * id + from, 64)))
        << "segment " << id << " from rank " << from;
  }
  for (Rank from = 0; from < me.ranks(); ++from) {
    if (me.segment_bytes(from, id) == 0) continue;
    std::vector<std::byte> read(64);
    ASSERT_TRUE(get(me, read, GlobalPtr<std::byte>{from, 64 * me.rank(), id}));
    ASSERT_TRUE(holds(read, sent));
  }
  ASSERT_TRUE(me.barrier());
}

TEST_P(Segments, OfUnequalSizesAndNoneAtAll) {
  as_each_of(3, 256, [](Endpoint& me) {
    SegmentId last = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      // Rank 0 has the largest part; each time a different rank has none.
      const auto bytes_of = [i](Rank rank) {
        return rank == i % 3 ? std::size_t{0} : (std::size_t{5} - rank) * 1000 + i;
      };
      const auto segment = Segment::create(me, bytes_of(me.rank()));
      ASSERT_TRUE(segment) << segment.status().text();
      EXPECT_GT(segment->id(), last);
      last = segment->id();
      ASSERT_EQ(segment->mine().size(), bytes_of(me.rank()));
      EXPECT_TRUE(all_are(segment->mine(), std::byte{0}));
      for (Rank rank = 0; rank < me.ranks(); ++rank) {
        EXPECT_EQ(me.segment_bytes(rank, segment->id()), bytes_of(rank));
      }
      const auto sent = pattern(1, 1);
      const auto nothing_there = segment->at<std::byte>(i % 3);
      EXPECT_EQ(put(me, nothing_there, sent).code(), ErrorCode::out_of_range);
      EXPECT_TRUE(put(me, nothing_there, std::span(sent).first(0)));
      ASSERT_TRUE(me.barrier());
      ASSERT_NO_FATAL_FAILURE(use(me, segment->id()));
    }
    ASSERT_NO_FATAL_FAILURE(use(me, 0));  // segment 0 is unchanged
  });
}

TEST_P(Segments, KeepTheirAddressWhenOthersCome) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const auto first = me.segment();
    const auto sent = pattern(me.rank(), 4096);
    std::ranges::copy(sent, first.begin());
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(Segment::create(me, 100'000));
    EXPECT_EQ(me.segment().data(), first.data());
    EXPECT_TRUE(holds(me.segment(), sent));
    std::vector<std::byte> read(4096);
    ASSERT_TRUE(get(me, read, GlobalPtr<std::byte>{next(me), 0}));
    EXPECT_TRUE(holds(read, pattern(next(me), 4096)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Segments, OfMyOwnMemory) {
  struct Memory {
    alignas(8) std::array<std::byte, 20'000> bytes{};
  };
  // Outlives the job, because it is made before.
  const auto memories = std::make_shared<std::vector<Memory>>(3);
  as_each_of(3, 256, [memories](Endpoint& me) {
    const auto mine = std::span((*memories)[me.rank()].bytes).first(20'000 - 8 * me.rank());
    const auto segment = Segment::attach(me, mine);
    ASSERT_TRUE(segment) << segment.status().text();
    EXPECT_EQ(segment->mine().data(), mine.data());
    EXPECT_EQ(me.segment_bytes(1, segment->id()), 20'000u - 8);
    ASSERT_NO_FATAL_FAILURE(use(me, segment->id()));
    std::ranges::copy(pattern(me.rank(), mine.size()), mine.begin());
    ASSERT_TRUE(me.barrier());
    std::vector<std::byte> read(me.segment_bytes(next(me), segment->id()));
    ASSERT_TRUE(get(me, read, segment->at<std::byte>(next(me))));
    EXPECT_TRUE(holds(read, pattern(next(me), read.size())));
    ASSERT_TRUE(me.barrier());
    const GlobalPtr<std::uint64_t> counter = segment->at<std::uint64_t>(0);
    if (me.rank() == 0) {
      ASSERT_TRUE(store(me, counter, 0));
    }
    ASSERT_TRUE(me.barrier());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(atomic<AtomicOp::add>(me, counter, 1));
    ASSERT_TRUE(me.barrier());
    const auto total = load(me, counter);
    ASSERT_TRUE(total);
    EXPECT_EQ(*total, 300u);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Segments, MoreThanTheSettingAllowsAreRefusedOnAllRanks) {
  run({.ranks = 2, .segment_bytes = 64, .settings = {{"segments", "5"}}}, [](Endpoint& me) {
    int created = 0;
    Status status;
    while (status && created < 5) {
      status = Segment::create(me, 64).status();
      created += status.ok();
    }
    EXPECT_EQ(status.code(), ErrorCode::refused);
    EXPECT_GE(created, 1);
    EXPECT_LT(created, 5) << "the primary segment is one of them";
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Segments, LargerThanTheMachineFailsOnAllRanksAndNothingElse) {
  as_each_of(2, 4096, [](Endpoint& me) {
    // Only rank 1 asks for too much; both ranks get the error.
    const auto segment = Segment::create(me, me.rank() == 1 ? std::size_t{1} << 50 : 4096);
    ASSERT_FALSE(segment);
    const ErrorCode code = segment.status().code();
    EXPECT_TRUE(code == ErrorCode::no_memory || code == ErrorCode::no_space) << segment.status().text();
    ASSERT_NO_FATAL_FAILURE(use(me, 0));
    const auto smaller = Segment::create(me, 4096);
    ASSERT_TRUE(smaller) << smaller.status().text();
    ASSERT_NO_FATAL_FAILURE(use(me, smaller->id()));
  });
}

INSTANTIATE_TEST_SUITE_P(On, Segments, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
