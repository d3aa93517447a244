// Cursor, survey, simplification, patterns in lists and loop nests, each compared with the bytes of a naive loop.

#include <aqueduct/vis_section.hpp>

#include "tests/support/random_shape.hpp"
#include "vis/kernels.hpp"
#include "vis/normalise.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace aqueduct::vis {
namespace {

using test::AnyShape;
using test::RandomShapes;
constexpr int kRounds = 3000;

std::vector<std::int64_t> walked(const Shape& shape, std::uint64_t total, RandomShapes& random) {
  std::vector<std::int64_t> out;
  Cursor cursor(shape, total);
  while (cursor.remaining() != 0) {
    const Row row = cursor.row();
    const std::uint64_t bytes = 1 + random.below(row.count * row.bytes);  // ends at any byte
    for (std::uint64_t i = 0; i < bytes; ++i) {
      out.push_back(static_cast<std::int64_t>(row.place(i / row.bytes) + i % row.bytes));
    }
    cursor.step(bytes);
  }
  return out;
}

AnyShape any(RandomShapes& random) {
  return random.below(2) == 0 ? random.any(600) : random.of_sum(random.below(600));
}

TEST(Cursor, GivesTheBytesOfTheNaiveLoopWhateverItsSteps) {
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    RandomShapes random(seed);
    const AnyShape made = any(random);
    const auto expected = made.bytes();
    ASSERT_EQ(walked(made.shape, expected.size(), random), expected) << made.name << ", seed " << seed;
  }
}

TEST(Cursor, SkipsToAnyByte) {
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    RandomShapes random(seed);
    const AnyShape made = any(random);
    const auto bytes = made.bytes();
    if (bytes.empty()) continue;
    Cursor cursor(made.shape, bytes.size());
    std::uint64_t at = 0;
    while (at < bytes.size()) {
      ASSERT_EQ(cursor.run().offset, bytes[at]) << made.name << ", byte " << at << ", seed " << seed;
      const std::uint64_t now = 1 + random.below(bytes.size() - at);
      cursor.skip(now);
      at += now;
    }
    ASSERT_EQ(cursor.remaining(), 0u);
  }
}

TEST(Survey, AddsUpWhatTheNaiveLoopDoes) {
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    RandomShapes random(seed);
    const AnyShape made = any(random);
    const auto bytes = made.bytes();
    const Survey found = survey(made.shape);
    ASSERT_EQ(found.problem, Problem::none);
    ASSERT_EQ(found.bytes, bytes.size()) << made.name << ", seed " << seed;
    if (bytes.empty()) continue;
    ASSERT_EQ(found.lowest, std::ranges::min(bytes)) << made.name << ", seed " << seed;
    ASSERT_EQ(found.highest, std::ranges::max(bytes) + 1) << made.name << ", seed " << seed;
    ASSERT_FALSE(overlaps(made.shape, found)) << made.name << ", seed " << seed;
  }
}

TEST(Survey, FindsOverlaps) {
  const auto overlap = [](const Shape& shape) { return overlaps(shape, survey(shape)); };
  EXPECT_TRUE(overlap(Strided(8, {{3, 4}}).shape));
  EXPECT_TRUE(overlap(Strided(8, {{3, 0}}).shape));
  EXPECT_TRUE(overlap(Strided(8, {{1000, 0}, {1000, 8}}).shape));
  EXPECT_TRUE(overlap(Strided(4, {{3, 8}, {3, 8}}).shape));
  EXPECT_FALSE(overlap(Strided(4, {{2, 6}, {2, 12}}).shape)) << "nested the other way round";
  EXPECT_FALSE(overlap(Strided(1, {{2, 3}, {2, 7}, {2, 5}}).shape)) << "interleaved, and all different";
  const std::int64_t twice[] = {0, 16, 8, 16};
  EXPECT_TRUE(overlap(detail::shape_of(Indexed{twice, 8})));
  EXPECT_FALSE(overlap(detail::shape_of(Indexed{std::span(twice).first(3), 8})));
  const Piece into[] = {{10, 4}, {0, 11}};
  EXPECT_TRUE(overlap(detail::shape_of(Vector{into})));
}

TEST(Survey, SaysWhatIsWrong) {
  const auto code = [](const Shape& shape) { return code_of(survey(shape).problem, shape); };
  EXPECT_EQ(code(Strided(8, {{std::uint64_t{1} << 40, std::int64_t{1} << 40}}).shape),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code(Strided(8, {{std::uint64_t{1} << 40, 0}, {std::uint64_t{1} << 40, 0}}).shape),
            ErrorCode::invalid_argument);
  const std::vector<Dimension> many(kMostDimensions + 1, {1, 8});
  EXPECT_EQ(code(Strided(8, many).shape), ErrorCode::ok) << "dimensions of one element disappear";
  Shape beyond;  // no Strided is like this: the slowest dimensions are not in its shape
  beyond.bytes = 8;
  beyond.dimensions = kMostDimensions + 1;
  EXPECT_EQ(code(beyond), ErrorCode::invalid_argument);
  const std::string text = text_of(survey(beyond).problem, beyond);
  EXPECT_NE(text.find("17 dimensions"), std::string::npos) << text;
  EXPECT_EQ(code(Strided(8, std::span(many).first(kMostDimensions)).shape), ErrorCode::ok);
  const std::int64_t far[] = {0, INT64_MAX};
  EXPECT_EQ(code(detail::shape_of(Indexed{far, 8})), ErrorCode::invalid_argument);
}

TEST(Survey, SaysWhatWasWrongWhenTheShapeWasMade) {
  for (const auto& [problem, words] : {std::pair{ErrorCode::invalid_argument, "no shape is of its kind"},
                                       std::pair{ErrorCode::no_memory, "no memory for the list"},
                                       std::pair{ErrorCode::out_of_range, "a slice of the section"}}) {
    Shape shape;
    shape.problem = problem;
    const Survey found = survey(shape);
    EXPECT_EQ(code_of(found.problem, shape), problem);
    EXPECT_NE(text_of(found.problem, shape).find(words), std::string::npos) << text_of(found.problem, shape);
  }
}

TEST(Simplified, HasTheSameBytesInFewerPieces) {
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    RandomShapes random(seed);
    const AnyShape made = random.any(600);
    const auto bytes = made.bytes();
    const Shape simple = simplified(made.shape);
    ASSERT_LE(simple.dimensions, made.shape.dimensions);
    ASSERT_EQ(walked(simple, bytes.size(), random), bytes) << made.name << ", seed " << seed;
  }
  const Shape row = simplified(Strided(8, {{5, 800}, {1, 3}, {10, 80}, {10, 8}}).shape);
  EXPECT_EQ(row.dimensions, 0u);
  EXPECT_EQ(row.bytes, 8u * 500);
}

TEST(StridesIn, FindsALoopNestWithinAList) {
  std::vector<std::int64_t> offsets;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 5; ++i) offsets.push_back(1000 * k - 100 * j + 16 * i);
    }
  }
  const Shape list = detail::shape_of(Indexed{offsets, 8});
  const auto found = strides_in(list, survey(list));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dimensions, 3u);
  RandomShapes random(1);
  EXPECT_EQ(walked(*found, offsets.size() * 8, random), walked(list, offsets.size() * 8, random));
  offsets[50] += 1;
  const Shape broken = detail::shape_of(Indexed{offsets, 8});
  EXPECT_FALSE(strides_in(broken, survey(broken)));
}

TEST(StridesIn, NeverChangesABytesPlace) {
  int found_some = 0;
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    RandomShapes random(seed);
    const AnyShape made = random.of_sum(random.below(600));
    const auto bytes = made.bytes();
    const auto found = strides_in(made.shape, survey(made.shape));
    if (!found) continue;
    ++found_some;
    ASSERT_EQ(walked(*found, bytes.size(), random), bytes) << made.name << ", seed " << seed;
  }
  EXPECT_GT(found_some, 10);
}

/// Copies between two shapes: once by the library, once by the model.
void copy_and_compare(const AnyShape& to, const AnyShape& from, bool by_nest, const std::string& what) {
  const auto out = to.bytes();
  const auto in = from.bytes();
  ASSERT_EQ(out.size(), in.size());
  const auto room = [](const std::vector<std::int64_t>& bytes) {
    return bytes.empty() ? std::size_t{0} : static_cast<std::size_t>(std::ranges::max(bytes) + 1);
  };
  std::vector<std::byte> source(room(in));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + i / 256 + 1);
  std::vector<std::byte> expected(room(out));
  std::vector<std::byte> found = expected;
  for (std::size_t i = 0; i < out.size(); ++i) {
    expected[static_cast<std::size_t>(out[i])] = source[static_cast<std::size_t>(in[i])];
  }
  if (by_nest) {
    const Shape a = simplified(to.shape);
    const Shape b = simplified(from.shape);
    const auto loops = nest(a, b);
    if (!loops) return;
    if (!out.empty()) run_nest(*loops, found.data() + a.base, source.data() + b.base);
  } else {
    Cursor a(to.shape, out.size(), reinterpret_cast<std::uintptr_t>(found.data()));
    Cursor b(from.shape, in.size(), reinterpret_cast<std::uintptr_t>(source.data()));
    copy_between(a, b, out.size());
  }
  ASSERT_EQ(found, expected) << what;
}

TEST(CopyBetween, MovesWhatTheNaiveLoopMoves) {
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    RandomShapes random(seed);
    const AnyShape from = any(random);
    const AnyShape to = random.of_sum(from.bytes().size());
    copy_and_compare(to, from, false, to.name + " from " + from.name + ", seed " + std::to_string(seed));
    copy_and_compare(from, to, false, from.name + " from " + to.name + ", seed " + std::to_string(seed));
  }
}

TEST(Nest, MovesWhatTheNaiveLoopMoves) {
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    RandomShapes random(seed);
    const AnyShape from = random.any(600);
    const std::uint64_t sum = from.bytes().size();
    const AnyShape to = random.of_sum(sum);
    copy_and_compare(to, from, true, to.name + " from " + from.name + ", seed " + std::to_string(seed));
    if (sum == 0) continue;
    AnyShape dense;  // the packed form, with the same piece boundaries as the other
    dense.shape.bytes = sum;
    ASSERT_TRUE(nest(simplified(from.shape), dense.shape)) << from.name << ", seed " << seed;
    copy_and_compare(from, dense, true, from.name + " from dense, seed " + std::to_string(seed));
    copy_and_compare(dense, from, true, "dense from " + from.name + ", seed " + std::to_string(seed));
  }
}

TEST(Section, IsTheSlicesOfTheArray) {
  std::vector<int> array(4 * 5 * 6);
  std::iota(array.begin(), array.end(), 0);
  const auto part = section(view(array.data(), {4, 5, 6}), {{1, 4, 2}, {4, -1, -2}, {0, 6}});
  const Survey found = survey(part.shape());
  ASSERT_EQ(found.bytes, 2 * 3 * 6 * sizeof(int));
  Cursor cursor(part.shape(), found.bytes, reinterpret_cast<std::uintptr_t>(part.base()));
  for (int i = 1; i < 4; i += 2) {
    for (int j = 4; j > -1; j -= 2) {
      for (int k = 0; k < 6; ++k) {
        ASSERT_EQ(*reinterpret_cast<const int*>(cursor.run().offset), (i * 5 + j) * 6 + k);
        cursor.step(sizeof(int));
      }
    }
  }
  const auto array_of = [&] { return view(array.data(), {4, 5, 6}); };
  const auto code = [](const Shape& shape) { return code_of(survey(shape).problem, shape); };
  EXPECT_EQ(code(section(array_of(), {{0, 5}, {0, 1}, {0, 1}}).shape()), ErrorCode::out_of_range);
  EXPECT_EQ(code(section(array_of(), {{0, 4}, {0, 1, 0}, {0, 1}}).shape()), ErrorCode::out_of_range);
  EXPECT_EQ(code(section(array_of(), {{0, 4}, {-1, 1}, {0, 1}}).shape()), ErrorCode::out_of_range);
  EXPECT_EQ(survey(section(array_of(), {{0, 4}, {2, 2}, {0, 6}}).shape()).bytes, 0u);
  const auto none = section(array_of(), {{0, 4}, {INT64_MAX, 0, INT64_MAX}, {INT64_MIN, INT64_MIN}});
  EXPECT_EQ(none.shape().problem, ErrorCode::ok) << "a slice without an index, whatever it names";
  EXPECT_EQ(survey(none.shape()).bytes, 0u);
}

}  // namespace
}  // namespace aqueduct::vis
