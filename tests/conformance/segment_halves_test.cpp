#include <aqueduct/mapped.hpp>
#include <aqueduct/segment.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace aqueduct::conformance {
namespace {

class SegmentHalves : public FabricTest {};

std::uint64_t address_of(std::span<const std::byte> memory) {
  return reinterpret_cast<std::uintptr_t>(memory.data());
}

/// Every rank tells all others where its part lies, and compares what the library says.
void check_bases(Endpoint& me, const Segment& segment) {
  for (Rank to = 0; to < me.ranks(); ++to)
    ASSERT_TRUE(put_value(me, segment.at<std::uint64_t>(to, me.rank()), address_of(segment.mine())));
  ASSERT_TRUE(me.barrier());
  const auto* const said = reinterpret_cast<const std::uint64_t*>(segment.mine().data());
  for (Rank rank = 0; rank < me.ranks(); ++rank) {
    EXPECT_EQ(segment.base_of(rank), said[rank]) << "of rank " << rank;
    EXPECT_EQ(base_of(me, rank, segment.id()), said[rank]) << "of rank " << rank;
  }
  EXPECT_EQ(segment.base_of(me.ranks()), 0u);
  ASSERT_TRUE(me.barrier());
}

TEST_P(SegmentHalves, HaveTheirAddressBeforeTheyArePublished) {
  for (const Rank ranks : {Rank{1}, Rank{2}, Rank{5}, many()}) {
    as_each_of(ranks, 256, [](Endpoint& me) {
      const std::size_t bytes = 4096 + 64 * me.rank();
      auto memory = Segment::allocate(me, bytes);
      ASSERT_TRUE(memory) << memory.status().text();
      ASSERT_EQ(memory->bytes().size(), bytes);
      EXPECT_TRUE(all_are(memory->bytes(), std::byte{0}));
      const auto sent = pattern(me.rank(), 64);
      std::ranges::copy(sent, memory->bytes().begin() + 2048);
      const std::byte* const address = memory->bytes().data();
      auto segment = Segment::publish(me.world(), std::move(memory));
      ASSERT_TRUE(segment) << segment.status().text();
      EXPECT_EQ(segment->mine().data(), address);
      for (Rank from = 0; from < me.ranks(); ++from) {
        EXPECT_EQ(me.segment_bytes(from, segment->id()), 4096 + 64 * from);
        std::vector<std::byte> read(64);
        ASSERT_TRUE(get(me, read, segment->at<std::byte>(from, 2048)));
        EXPECT_TRUE(holds(read, pattern(from, 64))) << "from rank " << from;
      }
      ASSERT_NO_FATAL_FAILURE(check_bases(me, *segment));
      ASSERT_TRUE(segment->release());
      EXPECT_EQ(segment->base_of(0), 0u) << "after release";
      ASSERT_TRUE(me.barrier());
    });
  }
}

TEST_P(SegmentHalves, BasesAreKnownOfEveryKindOfSegment) {
  const auto memories = std::make_shared<std::vector<std::array<std::uint64_t, 32>>>(3);
  as_each_of(3, 256, [memories](Endpoint& me) {
    EXPECT_EQ(base_of(me, me.rank()), address_of(me.segment()));
    auto empty = Segment::create(me, me.rank() == 1 ? 0 : 64);
    ASSERT_TRUE(empty);
    EXPECT_EQ(empty->base_of(1), 0u) << "an empty part";
    EXPECT_NE(empty->base_of(2), 0u);
    auto attached = Segment::attach(me, std::as_writable_bytes(std::span((*memories)[me.rank()])));
    ASSERT_TRUE(attached);
    ASSERT_NO_FATAL_FAILURE(check_bases(me, *attached));
  });
}

std::ptrdiff_t mappings_here() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

TEST_P(SegmentHalves, ThatAreNotPublishedAreFreed) {
  as_each_of(2, 256, [](Endpoint& me) {
    static_cast<void>(Segment::allocate(me, 9 << 20));
    ASSERT_TRUE(me.barrier());
    const auto before = mappings_here();
    for (int i = 0; i < 20; ++i) {
      auto memory = Segment::allocate(me, 9 << 20);  // more than fits in a pool
      ASSERT_TRUE(memory) << memory.status().text();
      auto other = std::move(*memory);
      EXPECT_TRUE(memory->bytes().empty());
      ASSERT_EQ(other.bytes().size(), std::size_t{9} << 20);
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_LT(mappings_here(), before + 15);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(SegmentHalves, OfWhichOneIsMissingFailOnAll) {
  as_each_of(3, 256, [](Endpoint& me) {
    auto memory = Segment::allocate(me, 4096);
    ASSERT_TRUE(memory);
    const Status none(ErrorCode::no_space, 1);
    const auto failed =
        Segment::publish(me.world(), me.rank() == 1 ? Result<SegmentMemory>(none) : std::move(memory));
    EXPECT_EQ(failed.status(), none);
    // Memory that was published before is not the caller's any more.
    memory = Segment::allocate(me, 4096);
    ASSERT_TRUE(memory);
    auto other = std::move(*memory);
    const auto twice = Segment::publish(me.world(), me.rank() == 2 ? std::move(*memory) : std::move(other));
    EXPECT_EQ(twice.status(), Status(ErrorCode::invalid_argument, 2));
    const auto right = Segment::publish(me.world(), Segment::allocate(me, 4096));
    ASSERT_TRUE(right) << right.status().text();
    ASSERT_NO_FATAL_FAILURE(check_bases(me, *right));
  });
}

TEST_P(SegmentHalves, BelongToATeam) {
  as_each_of(4, 256, [](Endpoint& me) {
    auto early = Segment::allocate(me, 512);  // every rank allocates, two publish
    ASSERT_TRUE(early);
    auto team = me.world().split(me.rank() % 2, -std::int64_t{me.rank()});
    ASSERT_TRUE(team && *team);
    if (me.rank() % 2 == 1) {
      auto segment = Segment::publish(**team, std::move(early));
      ASSERT_TRUE(segment) << segment.status().text();
      for (Rank i = 0; i < 2; ++i)
        ASSERT_TRUE(put_value(me, segment->at_member<std::uint64_t>(i, (*team)->index()), me.rank()));
      ASSERT_TRUE((*team)->barrier());
      const auto* const said = reinterpret_cast<const std::uint64_t*>(segment->mine().data());
      EXPECT_EQ(said[0], 3u);
      EXPECT_EQ(said[1], 1u);
      EXPECT_EQ(segment->base_of(0), 0u) << "rank 0 is no member";
      EXPECT_FALSE(segment->is_mapped(0));
      ASSERT_TRUE(segment->release());
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(SegmentHalves, AreMappedWhereTheQuerySaysSo) {
  for (const Rank ranks : {Rank{1}, Rank{2}, Rank{5}}) {
    as_each_of(ranks, 256, [](Endpoint& me) {
      auto segment = Segment::create(me, 1000);
      ASSERT_TRUE(segment);
      EXPECT_TRUE(segment->is_mapped(me.rank()));
      for (Rank rank = 0; rank < me.ranks(); ++rank) {
        if (rank == me.rank()) continue;
        EXPECT_FALSE(segment->is_mapped(rank)) << "nobody has used it yet";
        EXPECT_FALSE(is_mapped(me, rank, segment->id())) << "the query maps nothing";
      }
      EXPECT_EQ(mapped_ranks(me, segment->id()), std::vector<Rank>{me.rank()});
      const Rank count = map_all(me, segment->id());
      const std::vector<Rank> mapped = mapped_ranks(me, segment->id());
      EXPECT_EQ(mapped.size(), count);
      for (Rank rank = 0; rank < me.ranks(); ++rank) {
        const bool is = std::find(mapped.begin(), mapped.end(), rank) != mapped.end();
        EXPECT_EQ(segment->is_mapped(rank), is) << "rank " << rank;
        EXPECT_EQ(me.local(segment->at<std::byte>(rank)) != nullptr, is) << "rank " << rank;
        EXPECT_TRUE(!is || me.is_neighbour(rank)) << "rank " << rank;
      }
      EXPECT_EQ(map_all(me, segment->id()), count) << "once more";
      EXPECT_EQ(map_all(me, 1000), 0u) << "no such segment";
      EXPECT_FALSE(is_mapped(me, me.ranks(), segment->id()));
      ASSERT_TRUE(segment->release());
      EXPECT_FALSE(segment->is_mapped(me.rank())) << "after release";
      EXPECT_EQ(map_all(me, segment->id()), 0u) << "after release";
    });
  }
}

TEST_P(SegmentHalves, HaveAsMuchRoomAsIsSaid) {
  as_each_of(2, 256, [](Endpoint& me) {
    const SegmentRoom room = Segment::most_bytes(me);
    EXPECT_GT(room.rank, 0u);
    EXPECT_LE(room.rank, room.host);
    ASSERT_TRUE(me.barrier());
    // Not all of it: the machine has other work.
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(room.rank, std::size_t{8} << 20));
    auto segment = Segment::create(me, bytes);
    ASSERT_TRUE(segment) << segment.status().text();
    ASSERT_TRUE(segment->release());
  });
}

TEST_P(SegmentHalves, InAHandlerAreRefused) {
  as_each_of(2, 256, [](Endpoint& me) {
    std::vector<ErrorCode> codes;
    const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) {
      codes = {Segment::allocate(me, 64).status().code(),
               Segment::publish(me.world(), Status(ErrorCode::no_memory)).status().code(),
               Team::create(me, std::vector<Rank>{0, 1}, 1).status().code(), me.world().end().code()};
    });
    ASSERT_TRUE(handler && me.barrier());
    ASSERT_TRUE(request(me, next(me), *handler));
    ASSERT_TRUE(progress_until(me, [&] { return !codes.empty(); }));
    EXPECT_EQ(codes, std::vector<ErrorCode>(4, ErrorCode::in_handler));
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, SegmentHalves, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
