#include "tests/conformance/pattern.hpp"
#include "tests/conformance/property.hpp"

#include <algorithm>

namespace aqueduct::conformance {
namespace {

using PostKind = core::Post::Kind;
using core::RemotePiece;

/// Lists of pieces in one operation, on conduits with native vectors.
class NativeVectors : public Property {
 protected:
  /// Calls `body` with rank 0's vector interface and a zeroed segment of rank 1.
  void on_vector(std::size_t bytes,
                 const std::function<void(ConduitBench&, core::NativeVector&, Target&)>& body) {
    on_bench(2, [&](ConduitBench& bench) {
      core::NativeVector* const vector = bench.conduit(0).vector();
      if (vector == nullptr) return;  // the layers above transfer piece by piece
      ASSERT_NE(bench.conduit(0).rma(), nullptr) << "lists need native puts";
      Target target(bench, bytes);
      ASSERT_TRUE(target.status) << target.status.text();
      body(bench, *vector, target);
      EXPECT_TRUE(bench.inbox(1).packets.empty());
      EXPECT_TRUE(bench.inbox(1).signals.empty());
      bench.conduit(1).rma()->unregister_segment(0);
    });
  }
};

/// Cuts `bytes` into `count` parts, none of them empty.
std::vector<std::size_t> cut(Random& random, std::size_t bytes, std::size_t count) {
  std::vector<std::size_t> parts(count, 1);
  for (std::size_t left = bytes - count, i = 0; i < count; ++i) {
    const std::size_t part = i + 1 == count ? left : random.below(left + 1);
    parts[i] += part;
    left -= part;
  }
  return parts;
}

TEST_P(NativeVectors, OfPiecesOfUnequalLengthsArriveWholeAndTouchNothingElse) {
  constexpr std::size_t kBytes = 1 << 16;
  on_vector(kBytes, [seed = seed()](ConduitBench& bench, core::NativeVector& vector, Target& target) {
    ASSERT_GE(vector.most_local(), 2u);
    ASSERT_GE(vector.most_remote(), 1u);
    Random random(seed);
    for (core::Token token = 1; token <= 120; ++token) {
      const std::size_t most = std::max(vector.most_local(), vector.most_remote());
      const std::size_t bytes = most + random.any_magnitude(14);
      const auto sent = pattern(token, bytes);
      std::vector<RemotePiece> there;
      std::vector<std::byte> expected(kBytes);
      std::size_t offset = 0, at = 0;
      const auto remote_parts = cut(random, bytes, 1 + random.below(vector.most_remote()));
      for (const std::size_t part : remote_parts) {
        offset += random.below(64);
        there.push_back({offset, part});
        std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(at), part,
                    expected.begin() + static_cast<std::ptrdiff_t>(offset));
        offset += part;
        at += part;
      }
      // Local pieces have gaps between them too.
      const auto local_parts = cut(random, bytes, 1 + random.below(vector.most_local()));
      std::vector<std::byte> from(2 * bytes), to(2 * bytes), unchanged(2 * bytes);
      std::vector<core::Bytes> sources;
      std::vector<core::MutableBytes> places;
      at = 0;
      for (std::size_t i = 0, start = 0; i < local_parts.size(); start += 2 * local_parts[i], ++i) {
        std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(at), local_parts[i],
                    from.begin() + static_cast<std::ptrdiff_t>(start));
        sources.push_back(std::span(from).subspan(start, local_parts[i]));
        places.push_back(std::span(to).subspan(start, local_parts[i]));
        at += local_parts[i];
      }
      std::ranges::fill(target.memory, std::byte{0});
      const core::Post put =
          bench.insist([&] { return vector.put_pieces(1, target.key, there, sources, 2 * token); });
      ASSERT_TRUE(ends(bench, put, 2 * token)) << token;
      ASSERT_TRUE(holds(target.memory, expected)) << token;
      const core::Post get =
          bench.insist([&] { return vector.get_pieces(1, target.key, there, places, 2 * token + 1); });
      ASSERT_TRUE(ends(bench, get, 2 * token + 1)) << token;
      ASSERT_TRUE(holds(to, from)) << token;
    }
    for (int i = 0; i < 100; ++i) bench.poll();
    for (const auto& [token, times] : bench.inbox(0).completions) EXPECT_EQ(times, 1) << token;
  });
}

TEST_P(NativeVectors, BeyondTheLimitsAreRefusedAndHaveNotHappened) {
  on_vector(4096, [](ConduitBench& bench, core::NativeVector& vector, Target& target) {
    const auto bytes = pattern(1, 64);
    const core::Bytes eight = std::span(bytes).first(8);
    std::vector<std::byte> read(8);
    core::Token token = 0;
    // A conduit may find an error late: then the completion reports it.
    const auto why_not = [&](const std::function<core::Post()>& attempt) {
      const core::Post post = bench.insist(attempt);
      if (post.kind != PostKind::posted) return post.why;
      const auto& ended = bench.inbox(0).failures;
      return bench.poll_until([&] { return ended.size() == 1; }) ? ended.front().code()
                                                                 : ErrorCode::timed_out;
    };
    const auto refused = [&](std::vector<RemotePiece> there, std::vector<core::Bytes> here, ErrorCode why) {
      EXPECT_EQ(why_not([&] { return vector.put_pieces(1, target.key, there, here, ++token); }), why);
      bench.inbox(0).failures.clear();
      std::vector<core::MutableBytes> places;
      for (const core::Bytes piece : here) places.push_back(std::span(read).first(piece.size()));
      EXPECT_EQ(why_not([&] { return vector.get_pieces(1, target.key, there, places, ++token); }), why);
      bench.inbox(0).failures.clear();
    };
    std::vector<core::Bytes> local(vector.most_local() + 1, eight);
    refused({{0, 8 * local.size()}}, local, ErrorCode::too_large);
    std::vector<RemotePiece> remote(vector.most_remote() + 1, {0, 1});
    refused(remote, {std::span(bytes).first(remote.size())}, ErrorCode::too_large);
    const std::size_t most = bench.conduit(0).properties().max_transfer;
    refused({{0, most + 1}}, {eight}, ErrorCode::too_large);
    refused({{0, 9}}, {eight}, ErrorCode::invalid_argument);
    refused({{0, 8}, {16, 0}}, {eight},
            vector.most_remote() < 2 ? ErrorCode::too_large : ErrorCode::invalid_argument);
    refused({{0, 8}}, {eight, {}}, ErrorCode::invalid_argument);
    refused({}, {}, ErrorCode::invalid_argument);
    for (int i = 0; i < 100; ++i) bench.poll();
    EXPECT_TRUE(all_are(target.memory, std::byte{0}));
    EXPECT_TRUE(all_are(read, std::byte{0}));
  });
}

INSTANTIATE_TEST_SUITE_P(On, NativeVectors, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
