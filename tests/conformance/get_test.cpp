#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <limits>

namespace aqueduct::conformance {
namespace {

class Get : public FabricTest {};

// M-13: what a rank stored before the barrier.
TEST_P(Get, EverySizeInEveryFormFromEveryRankReadsExactlyThat) {
  as_each_of(3, 512 * 1024, [](Endpoint& me) {
    std::ranges::copy(pattern(me.rank(), me.segment().size()), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    const std::size_t packet = least_limits(me).medium;
    std::vector<std::byte> read(512 * 1024);
    for (const Form form : kForms) {
      for (Rank from = 0; from < me.ranks(); ++from) {
        const auto there = pattern(from, me.segment().size());
        std::size_t turn = 0;
        for (const std::size_t size :
             sizes_around({packet, 2 * packet, 3 * packet}, reasonable(me, 300'000))) {
          const std::size_t offset = 37 * turn++;
          std::ranges::fill(read, std::byte{0x5a});
          ASSERT_TRUE(get_by(form, me, std::span(read).first(size), GlobalPtr<std::byte>{from, offset}))
              << name_of(form) << ", " << size << " bytes from rank " << from;
          ASSERT_TRUE(holds(std::span(read).first(size), std::span(there).subspan(offset, size)))
              << name_of(form) << ", " << size << " bytes from rank " << from;
          ASSERT_TRUE(all_are(std::span(read).subspan(size, 64), std::byte{0x5a}))
              << name_of(form) << ", behind " << size << " bytes from rank " << from;
        }
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Get, OfTheWholeSegmentReadsIt) {
  as_each_of(2, (often(4) << 20) + 1, [](Endpoint& me) {
    std::ranges::copy(pattern(me.rank(), me.segment().size()), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    std::vector<std::byte> read(me.segment().size());
    ASSERT_TRUE(get(me, read, GlobalPtr<std::byte>{next(me), 0}));
    EXPECT_TRUE(holds(read, pattern(next(me), read.size())));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Get, AtEveryAlignmentOfBothSides) {
  as_each_of(2, 4096, [](Endpoint& me) {
    std::ranges::copy(pattern(me.rank(), me.segment().size()), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    const auto there = pattern(next(me), 4096);
    std::vector<std::byte> read(64);
    for (std::size_t offset = 0; offset < 16; ++offset) {
      for (std::size_t size = 1; size <= 33; ++size) {
        const std::size_t at = 1000 + 7 * offset + size;
        const auto to = std::span(read).subspan(offset, size);
        ASSERT_TRUE(get(me, to, GlobalPtr<std::byte>{next(me), at}));
        ASSERT_TRUE(holds(to, std::span(there).subspan(at, size))) << size << " bytes to " << offset;
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Get, IntoMySegmentFromAnother) {
  as_each_of(3, 128 * 1024, [](Endpoint& me) {
    const std::size_t half = me.segment().size() / 2;
    std::ranges::copy(pattern(me.rank(), half), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(get(me, me.segment().subspan(half), GlobalPtr<std::byte>{next(me), 0}));
    EXPECT_TRUE(holds(me.segment().subspan(half), pattern(next(me), half)));
    EXPECT_TRUE(holds(me.segment().first(half), pattern(me.rank(), half)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Get, OutsideTheSegmentIsRefusedAndReadsNothing) {
  as_each_of(2, 4096, [](Endpoint& me) {
    std::vector<std::byte> read(64, std::byte{0x5a});
    struct Place {
      GlobalPtr<std::byte> from;
      std::size_t size;
    };
    const Place wrong[] = {
        {{me.ranks(), 0}, 8},   {{kNoRank, 0}, 8},
        {{next(me), 4097}, 0},  {{next(me), 4096}, 1},
        {{next(me), 4090}, 64}, {{next(me), 0, /*segment=*/99}, 8},
        {{me.rank(), 4095}, 2}, {{next(me), std::numeric_limits<std::uint64_t>::max() - 3}, 64},
    };
    for (const auto& [from, size] : wrong) {
      for (const Form form : kForms) {
        EXPECT_EQ(get_by(form, me, std::span(read).first(size), from).code(), ErrorCode::out_of_range)
            << name_of(form) << ": " << size << " bytes from rank " << from.rank() << ", segment "
            << from.segment() << ", offset " << from.offset();
      }
    }
    EXPECT_TRUE(all_are(read, std::byte{0x5a}));
    EXPECT_TRUE(get(me, std::span(read).first(0), GlobalPtr<std::byte>{next(me), 4096}));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Get, ManyInFlightFromAllRanksAllArrive) {
  as_each_of(4, 256 * 1024, [](Endpoint& me) {
    constexpr std::size_t kPieces = 800;
    constexpr std::size_t kBytes = 300;
    std::ranges::copy(pattern(me.rank(), me.segment().size()), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    std::vector<std::vector<std::byte>> read(me.ranks(), std::vector<std::byte>(kPieces * kBytes));
    std::vector<Event> events;
    for (std::size_t i = 0; i < kPieces; ++i) {
      for (Rank from = 0; from < me.ranks(); ++from) {
        events.push_back(get_nb(me, std::span(read[from]).subspan(i * kBytes, kBytes),
                                GlobalPtr<std::byte>{from, i * kBytes}));
      }
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    for (Rank from = 0; from < me.ranks(); ++from) {
      ASSERT_TRUE(holds(read[from], pattern(from, kPieces * kBytes))) << "from rank " << from;
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Get, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
