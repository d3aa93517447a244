#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <limits>

namespace aqueduct::conformance {
namespace {

class Put : public FabricTest {};

TEST_P(Put, IsVisibleAtTheTargetOnceComplete) {
  as_each_of(/*ranks=*/3, /*segment_bytes=*/4096, [](Endpoint& me) {
    const auto sent = pattern(/*writer=*/me.rank(), 4096);
    ASSERT_TRUE(me.wait(put_nb(me, GlobalPtr<std::byte>{next(me), 0}, sent)));
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment(), pattern(/*writer=*/previous(me), 4096)));
  });
}

/// Each rank writes every size into its own part of all segments, one after another with a gap between.
void write_and_check_every_size(Endpoint& me, Form form, std::span<const std::size_t> sizes) {
  constexpr std::size_t kGap = 13;  // odd: every alignment occurs
  std::size_t part = 0;
  for (const std::size_t size : sizes) part += size + kGap;
  const auto source = pattern(me.rank(), sizes.back());
  for (Rank to = 0; to < me.ranks(); ++to) {
    std::uint64_t at = me.rank() * part;
    for (const std::size_t size : sizes) {
      const Status status = put_by(form, me, GlobalPtr<std::byte>{to, at}, std::span(source).first(size));
      ASSERT_TRUE(status) << size << " bytes to rank " << to << ": " << status.text();
      at += size + kGap;
    }
  }
  ASSERT_TRUE(me.barrier());
  for (Rank from = 0; from < me.ranks(); ++from) {
    const auto expected = pattern(from, sizes.back());
    std::size_t at = from * part;
    for (const std::size_t size : sizes) {
      ASSERT_TRUE(holds(me.segment().subspan(at, size), std::span(expected).first(size)))
          << size << " bytes from rank " << from;
      ASSERT_TRUE(all_are(me.segment().subspan(at + size, kGap), std::byte{0}))
          << "behind " << size << " bytes from rank " << from;
      at += size + kGap;
    }
  }
  ASSERT_TRUE(me.barrier());
}

TEST_P(Put, EverySizeInEveryFormReachesEveryRankAndNothingElse) {
  as_each_of(3, 8 << 20, [](Endpoint& me) {
    const std::size_t packet = least_limits(me).medium;
    const auto sizes = sizes_around({packet, 2 * packet, 3 * packet}, reasonable(me, 300'000));
    for (const Form form : kForms) {
      SCOPED_TRACE(name_of(form));
      ASSERT_NO_FATAL_FAILURE(write_and_check_every_size(me, form, sizes));
      std::ranges::fill(me.segment(), std::byte{0});
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Put, OfTheWholeSegmentFillsIt) {
  as_each_of(2, (often(4) << 20) + 1, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), me.segment().size());
    ASSERT_TRUE(put(me, GlobalPtr<std::byte>{next(me), 0}, sent));
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment(), pattern(previous(me), me.segment().size())));
  });
}

TEST_P(Put, AtEveryAlignmentWritesOnlyItsBytes) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    constexpr std::size_t kRoom = 64;
    const auto source = pattern(me.rank(), 128);
    std::size_t at = 0;
    for (std::size_t offset = 0; offset < 16; ++offset) {
      for (std::size_t size = 1; size <= 33; ++size, at += kRoom) {
        const GlobalPtr<std::byte> to{next(me), at + offset};
        ASSERT_TRUE(put_nbi(me, to, std::span(source).subspan(offset / 3, size)));
      }
    }
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(me.barrier());
    const auto expected = pattern(previous(me), 128);
    at = 0;
    for (std::size_t offset = 0; offset < 16; ++offset) {
      for (std::size_t size = 1; size <= 33; ++size, at += kRoom) {
        const auto room = me.segment().subspan(at, kRoom);
        ASSERT_TRUE(holds(room.subspan(offset, size), std::span(expected).subspan(offset / 3, size)))
            << size << " bytes at " << offset;
        ASSERT_TRUE(all_are(room.first(offset), std::byte{0}));
        ASSERT_TRUE(all_are(room.subspan(offset + size), std::byte{0}));
      }
    }
  });
}

TEST_P(Put, OfTypedElementsCountsInElements) {
  struct Particle {
    double x, y, z;
    std::int32_t id;
  };
  as_each_of(2, 4096, [](Endpoint& me) {
    std::vector<Particle> mine(20);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i] = {1.5 * static_cast<double>(i), 2, 3, static_cast<std::int32_t>(100 * me.rank() + i)};
    }
    const GlobalPtr<Particle> first{next(me), 64};
    ASSERT_TRUE(put(me, first + 3, mine));
    ASSERT_TRUE(me.barrier());
    std::vector<Particle> read(20);
    ASSERT_TRUE(get(me, read, GlobalPtr<Particle>{me.rank(), 64} + 3));
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].id, static_cast<std::int32_t>(100 * previous(me) + i));
      EXPECT_EQ(read[i].x, 1.5 * static_cast<double>(i));
    }
  });
}

TEST_P(Put, OutsideTheSegmentIsRefusedAndWritesNothing) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const auto bytes = pattern(1, 64);
    struct Place {
      GlobalPtr<std::byte> to;
      std::size_t size;
    };
    const Place wrong[] = {
        {{me.ranks(), 0}, 8},
        {{kNoRank, 0}, 8},
        {{kAnyRank, 0}, 8},
        {{next(me), 4097}, 0},
        {{next(me), 4096}, 1},
        {{next(me), 4095}, 2},
        {{next(me), 4090}, 64},
        {{next(me), 0, /*segment=*/99}, 8},
        {{me.rank(), 4095}, 2},
        {{me.rank(), 0, /*segment=*/77}, 1},
        {{next(me), std::numeric_limits<std::uint64_t>::max()}, 2},
        {{next(me), std::numeric_limits<std::uint64_t>::max() - 3}, 64},
    };
    for (const auto& [to, size] : wrong) {
      for (const Form form : kForms) {
        const Status status = put_by(form, me, to, std::span(bytes).first(size));
        EXPECT_EQ(status.code(), ErrorCode::out_of_range)
            << name_of(form) << ": " << size << " bytes to rank " << to.rank() << ", segment " << to.segment()
            << ", offset " << to.offset();
      }
    }
    EXPECT_TRUE(put(me, GlobalPtr<std::byte>{next(me), 4096}, std::span(bytes).first(0)));
    EXPECT_TRUE(put(me, GlobalPtr<std::byte>{next(me), 0}, std::span(bytes).first(0)));
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
  });
}

// Puts and gets. To a mapped target only checked builds look at the address.
TEST_P(Put, OfNullIsRefusedUnlessThereAreNoBytes) {
  run({2, 4096, {{"log", "off"}}}, [](Endpoint& me) {
    std::byte* const nowhere = nullptr;
    for (Rank to = 0; to < 2; ++to) {
      const GlobalPtr<std::byte> there{to, 8};
      for (const Form form : kForms) {
        const std::span<std::byte> nothing(nowhere, 0);
        EXPECT_TRUE(put_by(form, me, there, nothing)) << name_of(form);
        EXPECT_TRUE(get_by(form, me, nothing, there)) << name_of(form);
#ifndef AQUEDUCT_CHECKED
        if (me.local(there) != nullptr) continue;
#endif
        for (const std::size_t size : {std::size_t{1}, std::size_t{8}, std::size_t{4000}}) {
          SCOPED_TRACE(std::string(name_of(form)) + ", " + std::to_string(size) + " bytes, rank " +
                       std::to_string(to));
          const std::span<std::byte> missing(nowhere, size);
          EXPECT_EQ(put_by(form, me, there, missing).code(), ErrorCode::invalid_argument);
          EXPECT_EQ(get_by(form, me, missing, there).code(), ErrorCode::invalid_argument);
          EXPECT_EQ(put_signal(me, there, missing, {.slot = 0}).code(), ErrorCode::invalid_argument);
        }
      }
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
    EXPECT_EQ(signal_value(me, 0), 0u);
  });
}

TEST_P(Put, ManyInFlightToAllRanksAllArrive) {
  as_each_of(4, 1 << 20, [](Endpoint& me) {
    constexpr std::size_t kEach = 500;
    constexpr std::size_t kBytes = 200;
    const auto source = pattern(me.rank(), kEach * kBytes);
    std::vector<Event> events;
    for (std::size_t i = 0; i < kEach; ++i) {
      for (Rank to = 0; to < me.ranks(); ++to) {
        const std::uint64_t at = (me.rank() * kEach + i) * kBytes;
        events.push_back(
            put_nb(me, GlobalPtr<std::byte>{to, at}, std::span(source).subspan(i * kBytes, kBytes)));
      }
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    ASSERT_TRUE(me.barrier());
    for (Rank from = 0; from < me.ranks(); ++from) {
      ASSERT_TRUE(
          holds(me.segment().subspan(from * kEach * kBytes, kEach * kBytes), pattern(from, kEach * kBytes)))
          << "from rank " << from;
    }
  });
}

TEST_P(Put, CopyMovesBytesBetweenAnyTwoRanks) {
  as_each_of(3, 2 << 20, [](Endpoint& me) {
    constexpr std::size_t kBytes = 300'001;
    const auto mine = pattern(me.rank(), kBytes);
    std::ranges::copy(mine, me.segment().begin());
    ASSERT_TRUE(me.barrier());
    // From the previous rank to the next: neither is this one.
    const GlobalPtr<std::byte> from{previous(me), 0};
    const GlobalPtr<std::byte> to{next(me), 1 << 20};
    ASSERT_TRUE(copy(me, to, from, kBytes));
    EXPECT_EQ(copy(me, to, from, 3 << 20).code(), ErrorCode::out_of_range);
    ASSERT_TRUE(copy(me, to, from, 0));
    ASSERT_TRUE(me.barrier());
    // The previous rank copied the data of its own previous rank to this rank.
    const Rank origin = (me.rank() + me.ranks() - 2) % me.ranks();
    EXPECT_TRUE(holds(me.segment().subspan(1 << 20, kBytes), pattern(origin, kBytes)));
  });
}

INSTANTIATE_TEST_SUITE_P(On, Put, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
