// What collective calls are refused for.

#include "tests/unit/coll/checked_requests.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::coll::requests {
namespace {

TEST_F(CheckedRequest, RefusesNumbersThatDoNotExist) {
  refuses(0, changed([](CollCall& call) { call.operation = Collective::permute; }),
          "no operation with number 11 can be called: see enum Collective");
  refuses(0, changed([](CollCall& call) { call.options.in = static_cast<Sync>(3); }),
          "the options have sync mode 3, and the last one is 2: use one of enum Sync");
  refuses(0, changed([](CollCall& call) { call.options.out = static_cast<Sync>(255); }),
          "the options have sync mode 255, and the last one is 2: use one of enum Sync");
  refuses(0, changed([](CollCall& call) { call.options.order = static_cast<ReduceOrder>(3); }),
          "the options have order 3, and the last one is 2: use one of enum ReduceOrder");
  refuses(0, changed([](CollCall& call) { call.type = static_cast<ElementType>(19); }),
          "there is no element type 19: use one of enum ElementType");
  refuses(0, changed([](CollCall& call) { call.reducer.op = static_cast<ReduceOp>(13); }),
          "there is no operator 13: use one of enum ReduceOp");
  refuses(0, changed([](CollCall& call) { call.out.where = static_cast<CollBuffer::Where>(4); }),
          "out is a buffer of kind 4, which does not exist: use one of enum aq_buffer_kind");
}

TEST_F(CheckedRequest, RefusesElementsOfTheWrongSize) {
  refuses(0, changed([](CollCall& call) { call.element = 0; }),
          "an element has 0 bytes: give the size of one element");
  refuses(0, changed([](CollCall& call) { call.type = ElementType::f64; }),
          "an element has 1 bytes, but one of its type has 8: give that size, or type bytes");
  refuses(0, changed([](CollCall& call) {
            call.type = ElementType::i32;
            call.element = 4;
            call.in.bytes = call.out.bytes = 6;
          }),
          "a block of out has 6 bytes, which is not a multiple of an element's 4");
  CollCall gather = call_of(Collective::gather, memory(in_.data(), 6), memory(out_.data(), 18));
  gather.type = ElementType::bytes;
  gather.element = 4;
  refuses(0, gather, "a block of in has 6 bytes, which is not a multiple of an element's 4");
}

TEST_F(CheckedRequest, RefusesARootThatIsNoMember) {
  for (const Collective operation :
       {Collective::broadcast, Collective::scatter, Collective::gather, Collective::reduce}) {
    refuses(1, call_of(operation, memory(in_.data(), 8), memory(out_.data(), 8), 3),
            "root is 3, but the members of the team are 0 to 2: Team::index_of gives a rank's index");
  }
  // Other operations have no root, whatever the number says.
  EXPECT_EQ(fits(1, changed([](CollCall& call) { call.root = 3; })).shape.root, 0u);
}

TEST_F(CheckedRequest, RefusesBlocksThatCannotBeCounted) {
  const CollBuffer huge = memory(in_.data(), UINT64_MAX / 2);
  refuses(0, call_of(Collective::all_gather, huge, memory(out_.data(), 8)),
          "in has 9223372036854775807 bytes, and as many for each of 3 members cannot be counted in 64 bits");
  refuses(
      0, call_of(Collective::scatter, memory(in_.data(), 8), huge),
      "out has 9223372036854775807 bytes, and as many for each of 3 members cannot be counted in 64 bits");
  refuses(0, call_of(Collective::all_gather, {}, memory(out_.data(), UINT64_MAX)),
          "out has 18446744073709551615 bytes, which go beyond the last address: check its count");
}

TEST_F(CheckedRequest, RefusesBuffersOfOtherLengths) {
  refuses(0, call_of(Collective::all_reduce, memory(in_.data(), 8), memory(out_.data(), 9)),
          "in has 8 bytes, but a block has 9: pass as many elements as a block has");
  refuses(0, call_of(Collective::gather, memory(in_.data(), 8), memory(out_.data(), 23)),
          "out has 23 bytes, but needs 24: a block of 8 bytes for each of 3 members");
  refuses(0, call_of(Collective::all_gather, memory(in_.data(), 8), memory(out_.data(), 8)),
          "out has 8 bytes, but needs 24: a block of 8 bytes for each of 3 members");
  refuses(0, call_of(Collective::reduce_scatter, memory(in_.data(), 8), memory(out_.data(), 8)),
          "in has 8 bytes, but needs 24: a block of 8 bytes for each of 3 members");
  refuses(0, call_of(Collective::all_to_all, memory(in_.data(), 12), memory(out_.data(), 24)),
          "in has 12 bytes, but needs 24: a block of 8 bytes for each of 3 members");
  refuses(0, call_of(Collective::all_to_all, memory(in_.data(), 8), memory(out_.data(), 8)),
          "out has 8 bytes, which 3 members cannot share: it needs a block for each member");
  refuses(0, call_of(Collective::all_gather, {}, memory(out_.data(), 8)),
          "out has 8 bytes, which 3 members cannot share: it needs a block for each member");
  refuses(1, call_of(Collective::gather, common(0, 8), common(64, 0)),
          "out has 0 bytes, and at the root it has 24: pass the same places on all members");
}

TEST_F(CheckedRequest, RefusesBuffersThatAreMissing) {
  refuses(0, call_of(Collective::all_reduce, memory(in_.data(), 8), {}), "out is missing: pass a buffer");
  refuses(0, call_of(Collective::all_to_all, {}, memory(out_.data(), 24)),
          "in is missing: pass a buffer, since this operation has no form in place");
  refuses(1, call_of(Collective::gather, common(0, 8), {}), "out is missing: pass a buffer");
  refuses(0, call_of(Collective::all_reduce, memory(nullptr, 8), memory(out_.data(), 8)),
          "in is a null pointer and has 8 bytes: pass memory, or no elements");
  refuses(0, call_of(Collective::all_reduce, listed({}, 8), common(64, 8)),
          "in has no list of places: pass one with a place for each member");
}

// A list that is too short would be read beyond its end.
TEST_F(CheckedRequest, RefusesListsThatAreNotAsLongAsTheTeam) {
  refuses(0, call_of(Collective::all_reduce, {}, listed({{0, 0}, {1, 0}}, 8)),
          "out has a list of 2 places, but the team has 3 members: pass a place for each");
  refuses(0, call_of(Collective::all_reduce, {}, listed({{0, 0}, {1, 0}, {2, 0}, {0, 0}}, 8)),
          "out has a list of 4 places, but the team has 3 members: pass a place for each");
  // An empty list is no common place at the beginning of segment 0.
  const std::vector<GlobalPtr<char>> none;
  EXPECT_EQ(listed(none, 8).where, CollBuffer::Where::each);
  // C tells no length.
  const std::vector<GlobalPtr<char>> places{{0, 0}, {1, 0}, {2, 0}};
  CollBuffer unknown;
  unknown.where = CollBuffer::Where::each;
  unknown.each = places.data();
  unknown.bytes = 8;
  fits(0, call_of(Collective::all_reduce, {}, unknown));
}

TEST_F(CheckedRequest, RefusesTwoKindsOfBuffers) {
  refuses(0, call_of(Collective::all_reduce, memory(in_.data(), 8), common(0, 8)),
          "out is a place on all members and in is memory of this one: pass two of a kind");
  refuses(0, call_of(Collective::all_reduce, common(0, 8), memory(out_.data(), 8)),
          "in is a place on all members and out is memory of this one: pass two of a kind");
}

TEST_F(CheckedRequest, RefusesPlacesOutsideTheirSegment) {
  refuses(
      1, call_of(Collective::all_reduce, common(4089, 8), common(0, 8)),
      "in has 8 bytes from byte 4089 of segment 0, but the part of member 1 (rank 1) has 4096: pass a place "
      "inside it",
      ErrorCode::out_of_range);
  refuses(
      1, call_of(Collective::all_reduce, common(0, 8), common(UINT64_MAX, 8)),
      "out has 8 bytes from byte 18446744073709551615 of segment 0, but the part of member 1 (rank 1) has "
      "4096: pass a place inside it",
      ErrorCode::out_of_range);
  refuses(1, call_of(Collective::all_reduce, common(0, 8, 77), common(0, 8)),
          "in has 8 bytes from byte 0 of segment 77, but the part of member 1 (rank 1) has 0: pass a place "
          "inside "
          "it",
          ErrorCode::out_of_range);
  // Also the root's place, if this member has none.
  refuses(1, call_of(Collective::gather, common(0, 8), common(4080, 24)),
          "out has 24 bytes from byte 4080 of segment 0, but the part of member 0 (rank 0) has 4096: pass a "
          "place "
          "inside it",
          ErrorCode::out_of_range);
  // In a list, each member's.
  refuses(
      0, call_of(Collective::all_reduce, {}, listed({{0, 0}, {1, 0}, {2, 4096}}, 8)),
      "out has 8 bytes from byte 4096 of segment 0, but the part of member 2 (rank 2) has 4096: pass a place "
      "inside it",
      ErrorCode::out_of_range);
  refuses(0, call_of(Collective::all_reduce, {}, listed({{0, 0}, {2, 0}, {1, 0}}, 8)),
          "out has a place of rank 2 for member 1, which is rank 1: list them in team order");
}

// Products that wrap around would name a place that exists.
TEST_F(CheckedRequest, RefusesCountsThatOverflow) {
  constexpr std::uint64_t kWraps = std::uint64_t{1} << 61;  // times 8 is 2^64
  const auto of = [](std::uint64_t first, std::uint64_t count) {
    return aqueduct::detail::coll_buffer(
        OnAll<std::uint64_t>{0, aqueduct::detail::byte_count(first, 8), count, nullptr, false, 0});
  };
  CollCall call = call_of(Collective::broadcast, {}, of(kWraps + 1, 1));
  call.type = ElementType::u64;
  call.element = 8;
  EXPECT_EQ(check(1, call).status().code(), ErrorCode::out_of_range);
  call.out = of(0, kWraps + 1);
  EXPECT_FALSE(check(1, call));
  EXPECT_NE(why_, "");
  call.operation = Collective::all_gather;
  call.out = of(0, 3 * (kWraps + 1));
  EXPECT_FALSE(check(1, call));
  EXPECT_EQ(aqueduct::detail::byte_count(kWraps - 1, 8), std::uint64_t{0} - 8);
  EXPECT_EQ(aqueduct::detail::byte_count(kWraps, 8), std::uint64_t{0} - 8);
  EXPECT_EQ(aqueduct::detail::byte_count(UINT64_MAX, 1), UINT64_MAX);
  EXPECT_EQ(aqueduct::detail::byte_count(UINT64_MAX, 7) % 7, 0u);
}

// The program's counters and the engine's own scratch.
TEST_F(CheckedRequest, RefusesTheLibrarysOwnSegment) {
  refuses(0, call_of(Collective::all_reduce, {}, common(0, 8, 1)),
          "out is in segment 1, which is the library's own: pass a place in a segment of the program",
          ErrorCode::out_of_range);
  refuses(0, call_of(Collective::all_reduce, {}, listed({{0, 0}, {1, 0, 1}, {2, 0}}, 8)),
          "out is in segment 1, which is the library's own: pass a place in a segment of the program",
          ErrorCode::out_of_range);
}

TEST_F(CheckedRequest, RefusesASegmentThatWasReleased) {
  std::array<SegmentId, 3> ids{};
  job_->run_each([&](Endpoint& ep) {
    auto made = Segment::create(ep, 64);
    ASSERT_TRUE(made);
    ids[ep.rank()] = made->id();
    ASSERT_TRUE(made->release());
  });
  refuses(0, call_of(Collective::all_reduce, {}, common(0, 8, ids[0])),
          "out is in segment " + std::to_string(ids[0]) + ", which was released", ErrorCode::closed);
}

TEST_F(CheckedRequest, RefusesBuffersThatOverlapInPart) {
  std::byte* const at = out_.data();
  for (const Collective operation : {Collective::broadcast, Collective::reduce, Collective::all_reduce,
                                     Collective::scan, Collective::exscan}) {
    for (const int shift : {-7, -1, 1, 7}) {
      refuses(0, call_of(operation, memory(at + 16 + shift, 8), memory(at + 16, 8)),
              "in and out overlap in part: they may be the same range, or have no common bytes");
    }
    for (const int shift : {-8, 0, 8})
      fits(0, call_of(operation, memory(at + 16 + shift, 8), memory(at + 16, 8)));
  }
  for (const int shift : {-7, 0, 7, 9, 16, 23}) {
    refuses(1, call_of(Collective::all_gather, memory(at + 16 + shift, 8), memory(at + 16, 24)),
            "in and out overlap: in may be all of block 1 of out, or none of its bytes");
    refuses(1, call_of(Collective::gather, memory(at + 16 + shift, 8), memory(at + 16, 24), 1),
            "in and out overlap: in may be all of block 1 of out, or none of its bytes");
    refuses(1, call_of(Collective::scatter, memory(at + 16, 24), memory(at + 16 + shift, 8), 1),
            "in and out overlap: out may be all of block 1 of in, or none of its bytes");
  }
  for (const int shift : {-8, 8, 24}) {
    fits(1, call_of(Collective::all_gather, memory(at + 16 + shift, 8), memory(at + 16, 24)));
    fits(1, call_of(Collective::gather, memory(at + 16 + shift, 8), memory(at + 16, 24), 1));
    fits(1, call_of(Collective::scatter, memory(at + 16, 24), memory(at + 16 + shift, 8), 1));
  }
  refuses(0, call_of(Collective::all_to_all, memory(at, 24), memory(at, 24)),
          "in and out overlap: this operation has no form in place, so pass two buffers");
  refuses(0, call_of(Collective::reduce_scatter, memory(at, 24), memory(at, 8)),
          "in and out overlap: this operation has no form in place, so pass two buffers");
  refuses(0, call_of(Collective::all_reduce, common(0, 8), common(4, 8)),
          "in and out overlap in part: they may be the same range, or have no common bytes");
  // Members with one buffer have nothing that could overlap.
  fits(0, call_of(Collective::gather, memory(at, 8), memory(at + 1, 24), 1));
}

TEST_F(CheckedRequest, RefusesOperatorsThatDoNotFit) {
  refuses(0, changed([](CollCall& call) { call.reducer = ReduceOp::min_index; }),
          "elements of this type do not have this operator: see enum ReduceOp, or add your own");
  refuses(0, changed([](CollCall& call) { call.type = ElementType::bytes; }),
          "elements of this type do not have this operator: see enum ReduceOp, or add your own");
  refuses(0, changed([](CollCall& call) { call.reducer = Reducer::user(5); }),
          "no operator has number 5 on this rank: call add_operator before");
  ASSERT_TRUE(
      operators_.add(5, {[](void*, const void*, const void*, std::size_t, void*) {}, this, 4, false}));
  refuses(0, changed([](CollCall& call) { call.reducer = Reducer::user(5); }),
          "operator 5 is for elements of 4 bytes, and these have 1: add one for them");
  const Request request = fits(0, changed([](CollCall& call) {
                                 call.type = ElementType::bytes;
                                 call.element = 4;
                                 call.reducer = Reducer::user(5);
                               }));
  EXPECT_EQ(request.combiner.context, this);
  EXPECT_FALSE(request.shape.commutative);
  // Who combines nothing has no operator.
  EXPECT_EQ(fits(0, call_of(Collective::broadcast, {}, memory(out_.data(), 8))).combiner.combine, nullptr);
}

}  // namespace
}  // namespace aqueduct::coll::requests
