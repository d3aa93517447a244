#include <aqueduct/segment.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

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

// A product that wraps around would name an element that exists.
TEST_P(Segments, RefuseIndicesThatAreTooLarge) {
  run({2, 256, {{"log", "off"}}}, [](Endpoint& me) {
    constexpr std::uint64_t kWraps = std::uint64_t{1} << 61;  // times 8 is 2^64
    auto made = Segment::create<double>(me.world(), 16);
    ASSERT_TRUE(made);
    const SegmentOf<double> all = *made;
    const std::array<double, 1> sent{42};
    std::array<double, 1> read{};
    for (Rank to = 0; to < 2; ++to) {
      const std::array<GlobalPtr<double>, 8> wrong{all.at(to, kWraps),
                                                   all.at(to, kWraps + 5),
                                                   all.at(to, ~kWraps),
                                                   all.at_member(to, kWraps),
                                                   all.at(to, kWraps) + 1,
                                                   all.at(to) + static_cast<std::int64_t>(kWraps),
                                                   all.at(to, 3) - static_cast<std::int64_t>(kWraps),
                                                   all.bytes().at<double>(to, kWraps)};
      for (std::size_t i = 0; i < wrong.size(); ++i) {
        SCOPED_TRACE("rank " + std::to_string(to) + ", pointer " + std::to_string(i));
        EXPECT_EQ(put(me, wrong[i], sent).code(), ErrorCode::out_of_range);
        EXPECT_EQ(get(me, read, wrong[i]).code(), ErrorCode::out_of_range);
        EXPECT_EQ(put_value(me, wrong[i], 42).code(), ErrorCode::out_of_range);
        EXPECT_EQ(fetch_add(me, wrong[i], 42).status().code(), ErrorCode::out_of_range);
        EXPECT_EQ(put(me, contiguous(wrong[i], 1), contiguous(sent.data(), 1)).code(),
                  ErrorCode::out_of_range);
      }
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(std::as_bytes(all.mine()), std::byte{0}));
  });
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

TEST_P(Segments, BelongToATeamAndAreTyped) {
  as_each_of(5, 256, [](Endpoint& me) {
    auto split = me.world().split(me.rank() % 2, me.ranks() - me.rank());  // the highest rank first
    ASSERT_TRUE(split);
    Team& team = **split;
    // The teams have different numbers of segments, so that their members propose different ones below.
    for (Rank i = 0; i < 1 + 2 * (me.rank() % 2); ++i) ASSERT_TRUE(Segment::create(team, 100));
    auto numbers = Segment::create<double>(team, 10 + me.rank());
    ASSERT_TRUE(numbers) << numbers.status().text();
    ASSERT_EQ(numbers->mine().size(), 10u + me.rank());
    ASSERT_EQ(numbers->members(), team.size());
    for (const double number : numbers->mine()) EXPECT_EQ(number, 0.0);
    ASSERT_TRUE(team.barrier());
    for (Rank i = 0; i < team.size(); ++i) {
      EXPECT_EQ(numbers->rank_of(i), team.rank_of(i));
      EXPECT_EQ(me.segment_bytes(team.rank_of(i), numbers->id()), (10 + team.rank_of(i)) * sizeof(double));
      ASSERT_TRUE(put_value(me, numbers->at_member(i, team.index()), me.rank() + 0.5));
    }
    EXPECT_FALSE(numbers->at_member(team.size()));
    ASSERT_TRUE(team.barrier());
    for (Rank i = 0; i < team.size(); ++i) EXPECT_EQ(numbers->mine()[i], team.rank_of(i) + 0.5);
    const Rank stranger = (me.rank() + 1) % 4;
    ASSERT_EQ(team.index_of(stranger), kNoRank);
    EXPECT_EQ(put_value(me, numbers->at(stranger), 1.0).code(), ErrorCode::out_of_range);
    EXPECT_EQ(me.segment_bytes(stranger, numbers->id()), 0u);
    // Of all ranks, whatever they had before; and the same number everywhere.
    auto shared = Segment::create<SegmentId>(me.world(), me.ranks());
    ASSERT_TRUE(shared) << shared.status().text();
    EXPECT_GT(shared->id(), numbers->id());
    for (Rank to = 0; to < me.ranks(); ++to)
      ASSERT_TRUE(put_value(me, shared->at_member(to, me.rank()), shared->id()));
    ASSERT_TRUE(me.barrier());
    for (const SegmentId id : shared->mine()) EXPECT_EQ(id, shared->id());
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(numbers->release());
    ASSERT_TRUE(team.barrier());
    ASSERT_TRUE(shared->release());
  });
}

TEST_P(Segments, OfMoreThanAnAddressSpaceAreRefused) {
  run({.ranks = 2, .settings = {{"log", "off"}}}, [](Endpoint& me) {
    const auto segment = Segment::create<double>(me.world(), SIZE_MAX / 2);
    EXPECT_EQ(segment.status().code(), ErrorCode::no_memory);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Segments, ThatWereReleasedAreReachedByNobody) {
  as_each_of(3, 256, [](Endpoint& me) {
    auto segment = Segment::create(me, 1000);
    ASSERT_TRUE(segment);
    ASSERT_NO_FATAL_FAILURE(use(me, segment->id()));
    auto copy = *segment;
    ASSERT_TRUE(segment->release());
    EXPECT_EQ(segment->release().code(), ErrorCode::closed);
    EXPECT_EQ(copy.release().code(), ErrorCode::closed);
    EXPECT_TRUE(me.segment_of(segment->id()).empty());
    std::vector<std::byte> bytes(8);
    for (Rank to = 0; to < me.ranks(); ++to) {
      EXPECT_EQ(me.segment_bytes(to, segment->id()), 0u);
      EXPECT_EQ(me.local(segment->at<std::byte>(to)), nullptr);
      EXPECT_EQ(put(me, segment->at<std::byte>(to), bytes).code(), ErrorCode::closed);
      EXPECT_EQ(put(me, segment->at<std::byte>(to), std::span(bytes).first(0)).code(), ErrorCode::closed);
      EXPECT_EQ(get(me, bytes, segment->at<std::byte>(to)).code(), ErrorCode::closed);
      EXPECT_EQ(fetch_add(me, segment->at<std::uint64_t>(to), 1).status().code(), ErrorCode::closed);
    }
    ASSERT_NO_FATAL_FAILURE(use(me, 0));
    const auto next_one = Segment::create(me, 1000);
    ASSERT_TRUE(next_one);
    EXPECT_GT(next_one->id(), segment->id());
    ASSERT_NO_FATAL_FAILURE(use(me, next_one->id()));
  });
}

std::ptrdiff_t count_of_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}
std::ptrdiff_t count_of_mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

TEST_P(Segments, ComeAndGoWithoutATrace) {
  as_each_of(3, 256, [](Endpoint& me) {
    const auto cycle = [&me](std::size_t bytes) {
      auto segment = Segment::create(me, bytes);
      ASSERT_TRUE(segment) << segment.status().text();
      ASSERT_TRUE(all_are(segment->mine(), std::byte{0}));
      ASSERT_TRUE(me.barrier());
      ASSERT_NO_FATAL_FAILURE(use(me, segment->id()));
      ASSERT_TRUE(segment->release());
    };
    for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(cycle(70'000));
    ASSERT_TRUE(me.barrier());
    const auto descriptors = count_of_descriptors();
    const auto mappings = count_of_mappings();
    constexpr int kCycles = 40;
    for (int i = 0; i < kCycles; ++i) ASSERT_NO_FATAL_FAILURE(cycle(192 + 1000 * i));
    ASSERT_TRUE(me.barrier());
    EXPECT_LT(count_of_descriptors(), descriptors + kCycles / 2);
    EXPECT_LT(count_of_mappings(), mappings + kCycles / 2);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Segments, OfMyOwnMemoryGiveItBack) {
  as_each_of(3, 256, [](Endpoint& me) {
    for (int i = 0; i < 3; ++i) {
      std::vector<std::byte> memory(20'000);
      for (int k = 0; k < 2; ++k) {  // the same memory under two numbers, one after the other
        auto segment = Segment::attach<std::byte>(me.world(), memory);
        ASSERT_TRUE(segment) << segment.status().text();
        ASSERT_NO_FATAL_FAILURE(use(me, segment->id()));
        ASSERT_TRUE(segment->release());
      }
      std::ranges::fill(memory, std::byte{1});
    }
  });
}

TEST_P(Segments, ByTheHundredAtOnce) {
  run({.ranks = 2, .segment_bytes = 256}, [](Endpoint& me) {
    constexpr std::size_t kSegments = 150;
    std::vector<SegmentOf<std::uint64_t>> all;
    for (std::size_t i = 0; i < kSegments; ++i) {
      auto made = Segment::create<std::uint64_t>(me.world(), 1 + i % 7);
      ASSERT_TRUE(made) << i << ": " << made.status().text();
      all.push_back(*made);
    }
    for (std::size_t i = 0; i < kSegments; ++i) ASSERT_TRUE(put_value(me, all[i].at(next(me), i % 7), i));
    ASSERT_TRUE(me.barrier());
    for (std::size_t i = 0; i < kSegments; ++i) EXPECT_EQ(all[i].mine()[i % 7], i);
    ASSERT_TRUE(me.barrier());
    for (std::size_t i = kSegments; i-- > 0;) ASSERT_TRUE(all[i].release()) << i;
  });
}

struct NumberOfReply {
  std::uint64_t number;
};

// A handler replies from its segment. Where there is no room for a reply, the library keeps it, perhaps for longer than
// the segment lasts.
TEST_P(Segments, MayEndBeforeTheRepliesFromThem) {
  as_each_of(2, 256, [](Endpoint& me) {
    constexpr std::uint64_t kRequests = 300;
    const std::size_t bytes = least_limits(me).medium;
    const auto from_other = pattern(next(me), bytes);
    auto segment = Segment::create(me, bytes);
    ASSERT_TRUE(segment) << segment.status().text();
    std::ranges::copy(pattern(me.rank(), bytes), segment->mine().begin());
    std::uint64_t replies = 0;
    std::uint64_t refused = 0;
    testing::AssertionResult right = testing::AssertionSuccess();
    const auto reply =
        on_medium_reply<NumberOfReply>(me, [&](auto&, const NumberOfReply&, std::span<std::byte> payload) {
          ++replies;
          if (payload.empty()) return;  // the other's segment had ended
          if (const auto same = holds(payload, from_other); right && !same) right = same;
        });
    const auto handler = on_short_request<NumberOfReply>(me, [&](auto& context, const NumberOfReply& args) {
      refused += !context.reply(*reply, args, me.segment_of(segment->id())).ok();
    });
    ASSERT_TRUE(reply && handler);
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 0; i < kRequests; ++i) ASSERT_TRUE(request(me, next(me), *handler, {i}));
    ASSERT_TRUE(segment->release());
    // Its memory may come again.
    const auto other = Segment::create(me, bytes);
    ASSERT_TRUE(other) << other.status().text();
    std::ranges::fill(other->mine(), std::byte{0x5a});
    ASSERT_TRUE(progress_until(me, [&] { return replies == kRequests; })) << replies;
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(right);
    EXPECT_EQ(refused, 0u);
  });
}

TEST_P(Segments, AreReleasedByAllInTheSameOrder) {
  run({.ranks = 2, .segment_bytes = 256, .settings = {{"log", "off"}}}, [](Endpoint& me) {
    auto first = Segment::create(me, 128);
    auto second = Segment::create(me, 128);
    ASSERT_TRUE(first && second);
    EXPECT_EQ((me.rank() == 0 ? first : second)->release().code(), ErrorCode::invalid_argument);
    ASSERT_NO_FATAL_FAILURE(use(me, first->id()));
    ASSERT_TRUE(first->release());
    ASSERT_NO_FATAL_FAILURE(use(me, second->id()));
    ASSERT_TRUE(second->release());
  });
}

TEST_P(Segments, WhoseTeamHasEndedStayUntilTheJobEnds) {
  as_each_of(2, 256, [](Endpoint& me) {
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team);
    auto segment = Segment::create(**team, 128);
    ASSERT_TRUE(segment);
    team->reset();
    EXPECT_EQ(segment->release().code(), ErrorCode::closed);
    ASSERT_NO_FATAL_FAILURE(use(me, segment->id()));
  });
}

INSTANTIATE_TEST_SUITE_P(On, Segments, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
