#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/vis_test.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace aqueduct::conformance {
namespace {

/// Wrong transfers are refused before anything moves.
class VisMisuse : public VisTest {};

TEST_P(VisMisuse, BadInputIsFoundBeforeAnythingMoves) {
  run({2, 4096, {{"log", "off"}}}, [](Endpoint& me) {
    const GlobalPtr<int> to{next(me), 0};
    std::array<int, 8> a{1, 2, 3, 4, 5, 6, 7, 8};
    const auto from = contiguous(a.data(), 8);
    const auto code = [&](const RemotePieces& there) { return put(me, there, from).code(); };
    using enum ErrorCode;
    EXPECT_EQ(code(contiguous(to, 7)), invalid_argument) << "sums differ";
    EXPECT_EQ(code(pieces(to, Strided(4, {{8, 600}}))), out_of_range) << "the last pieces are outside";
    EXPECT_EQ(code(pieces(to, Strided(4, {{8, -4}}))), out_of_range) << "below the segment";
    EXPECT_EQ(code(contiguous(GlobalPtr<int>{me.ranks(), 0}, 8)), out_of_range) << "no such rank";
    EXPECT_EQ(code(contiguous(GlobalPtr<int>{next(me), 0, 77}, 8)), out_of_range) << "no such segment";
    EXPECT_EQ(code(pieces(to, Strided(4, {{8, INT64_MAX / 2}}))), invalid_argument) << "overflowing stride";
    EXPECT_EQ(code(section(view(to, {2, 4}), {{0, 2}, {0, 5}})), out_of_range) << "a slice too long";
    const std::int64_t outside[] = {0, 8, 4093};
    EXPECT_EQ(put(me, pieces(to, Indexed{outside, 4}), contiguous(a.data(), 3)).code(), out_of_range);
    EXPECT_EQ(get(me, contiguous(a.data(), 3), pieces(to, Indexed{outside, 4})).code(), out_of_range);
    const std::int64_t farthest[] = {0, 8, INT64_MIN};
    EXPECT_EQ(put(me, pieces(to, Indexed{farthest, 4}), contiguous(a.data(), 3)).code(), out_of_range)
        << "no memory is that large";
    const std::array<GlobalPtr<int>, 2> list{to, GlobalPtr<int>{next(me), detail::kOffsetNowhere}};
    EXPECT_EQ(get_group<int>(me, std::span(a).first(2), list).code(), out_of_range) << "an index too large";
    // Lists that no memory holds. Their elements are not looked at.
    constexpr std::size_t kMost = std::size_t{1} << 58;
    EXPECT_EQ(get_group<int>(me, std::span(a.data(), kMost), std::span(list.data(), kMost)).code(),
              ErrorCode::no_memory);
    EXPECT_EQ(put_group<int>(me, std::span(list.data(), kMost), std::span<const int>(a.data(), kMost)).code(),
              ErrorCode::no_memory);
    const auto before = a;
    constexpr std::size_t kWraps = std::size_t{1} << 62;  // times sizeof(int) is 2^64
    EXPECT_EQ(get(me, contiguous(a.data(), kWraps + 1), contiguous(to, kWraps + 1)).code(),
              ErrorCode::invalid_argument)
        << "elements that wrap around";
    EXPECT_EQ(a, before);
    EXPECT_EQ(put_signal(me, contiguous(to, 8), from, {.slot = 1 << 30}).code(), out_of_range)
        << "no such signal";
    const GlobalPtr<int> odd{next(me), 2};
    EXPECT_EQ(accumulate_strided(me, odd, Strided(4, {{8, 4}}), a.data(), Strided(4, {{8, 4}})).code(),
              misaligned);
    EXPECT_EQ(accumulate_strided(me, to, Strided(4, {{8, 6}}), a.data(), Strided(4, {{8, 4}})).code(),
              misaligned);
    EXPECT_EQ(accumulate_strided(me, to, Strided(2, {{8, 4}}), a.data(), Strided(4, {{4, 4}})).code(),
              invalid_argument);
#ifdef AQUEDUCT_CHECKED
    EXPECT_EQ(code(pieces(to, Strided(4, {{8, 2}}))), invalid_argument) << "targets overlap";
    EXPECT_EQ(get(me, pieces(a.data(), Strided(4, {{4, 0}})), contiguous(to, 4)).code(), invalid_argument);
#endif
    EXPECT_FALSE(me.wait(put_nb(me, contiguous(to, 7), from)));
    EXPECT_FALSE(put_nbi(me, contiguous(to, 7), from));
    ASSERT_TRUE(me.wait_implicit()) << "what was not begun is not in the group";
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
    EXPECT_EQ(a, (std::array{1, 2, 3, 4, 5, 6, 7, 8}));
  });
}

TEST_P(VisMisuse, NullHereIsRefusedUnlessThereAreNoBytes) {
  run({2, 4096, {{"log", "off"}}}, [](Endpoint& me) {
    std::byte* const nowhere = nullptr;
    auto* const at_16 = reinterpret_cast<std::byte*>(std::uintptr_t{16});
    std::array<std::byte, 16> memory{};
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory.data()));
    const std::array<Piece, 2> one_null{{{address, 8}, {0, 8}}};
    const std::array<Piece, 3> one_empty{{{address, 8}, {0, 0}, {address + 8, 8}}};
    const std::array<std::int64_t, 2> addresses{address, 0};
    // Both ranks put to both, each to words of its own.
    const std::uint64_t at = 64 + 1024 * me.rank();
    for (Rank to = 0; to < 2; ++to) {
      SCOPED_TRACE(to);
      const auto there = pieces(GlobalPtr<std::byte>{to, at}, Strided(8, {{2, 32}}));
      for (const LocalPieces& here :
           {pieces(nowhere, Strided(8, {{2, 16}})), pieces(nowhere, Strided(16, {})),
            pieces(at_16, Strided(8, {{2, -16}})), pieces(nowhere, Vector{one_null}),
            pieces(nowhere, Indexed{addresses, 8})}) {
        const LocalConstPieces from(here);
        EXPECT_EQ(put(me, there, from).code(), ErrorCode::invalid_argument);
        EXPECT_EQ(me.wait(put_nb(me, there, from)).code(), ErrorCode::invalid_argument);
        EXPECT_EQ(get(me, here, there).code(), ErrorCode::invalid_argument);
        EXPECT_EQ(get_nbi(me, here, there).code(), ErrorCode::invalid_argument);
        EXPECT_EQ(put_signal(me, there, from, {.slot = 0}).code(), ErrorCode::invalid_argument);
      }
      EXPECT_EQ(accumulate_strided(me, GlobalPtr<std::uint64_t>{to, 64}, Strided(8, {{2, 32}}),
                                   static_cast<const std::uint64_t*>(nullptr), Strided(8, {{2, 8}}))
                    .code(),
                ErrorCode::invalid_argument);
      EXPECT_TRUE(put(me, there, LocalConstPieces(pieces(nowhere, Vector{one_empty}))));
      const auto none = Strided(8, {{0, 32}});
      EXPECT_TRUE(get(me, pieces(nowhere, none), pieces(GlobalPtr<std::byte>{to, 0}, none)));
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
    EXPECT_EQ(signal_value(me, 0), 0u);
  });
}

TEST_P(VisMisuse, InAHandlerIsRefusedUnlessTheTargetIsMapped) {
  with_each_plan(2, 4096, [](Endpoint& me) {
    ErrorCode said = ErrorCode::ok;
    bool ran = false;
    const bool mapped = me.local(GlobalPtr<int>{next(me), 0}) != nullptr;
    const auto handler = on_short_request<std::uint32_t>(me, [&](auto&, const auto&) {
      const std::array<int, 4> a{};
      said =
          put(me, pieces(GlobalPtr<int>{next(me), 0}, Strided(4, {{4, 8}})), contiguous(a.data(), 4)).code();
      ran = true;
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(request(me, me.rank(), *handler, 1u));
    ASSERT_TRUE(progress_until(me, [&] { return ran; }));
    EXPECT_TRUE(said == ErrorCode::in_handler || (mapped && said == ErrorCode::ok)) << static_cast<int>(said);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(Every, VisMisuse, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
