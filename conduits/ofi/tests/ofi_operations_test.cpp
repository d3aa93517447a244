// How many calls of libfabric an operation takes, and what happens to operations that cannot be done.

#include "conduits/loop/tests/allocation_count.hpp"
#include "conduits/ofi/tests/pair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::ofi {
namespace {

using Kind = core::Post::Kind;

constexpr const char* kProvider = "tcp;ofi_rxm";

std::vector<std::byte> bytes_of(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

/// The first use of a peer makes the connection.
void warm_up(Pair& pair) {
  const auto bytes = bytes_of(8);
  ASSERT_EQ(pair.insist([&] { return pair[0].rma()->put(1, pair.key(), 0, bytes, false, 999); }).kind,
            Kind::posted);
  ASSERT_TRUE(pair.end_of(999));
  Pair::calls() = {};
}

TEST(OfiOperations, APutIsOneCallAndNoAllocation) {
  Pair pair(kProvider);
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  ASSERT_NO_FATAL_FAILURE(warm_up(pair));
  const auto bytes = bytes_of(64);
  struct : core::Inbox {
    int ended = 0;
    void packet(Rank, core::Bytes) noexcept override {}
    void completed(core::Token, Status status) noexcept override { ended += status ? 1 : 1000; }
    void signalled(Rank, Signal) noexcept override {}
    void lost(Rank) noexcept override {}
  } quiet;
  const auto before = loop::allocations();
  for (int i = 0; i < 200; ++i) {
    core::Post post = core::Post::retry();
    while ((post = pair[0].rma()->put(1, pair.key(), 8, bytes, i % 2 == 0, 1)).kind == Kind::retry)
      pair[0].poll(quiet);
    for (int rounds = 0; quiet.ended <= i && rounds < 10'000'000; ++rounds) {
      pair[0].poll(quiet);
      pair[1].poll(quiet);
    }
  }
  EXPECT_EQ(loop::allocations() - before, 0u);
  EXPECT_EQ(quiet.ended, 200);
  EXPECT_EQ(Pair::calls().writes, 200);
  EXPECT_EQ(Pair::calls().all(), 200);
}

// The target's own polls carry the transfers out, and its completion queue does not show them.
TEST(OfiOperations, ATransferSendsItsTargetPollHints) {
  Pair pair(kProvider);
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  ASSERT_NO_FATAL_FAILURE(warm_up(pair));
  const auto bytes = bytes_of(64);
  core::Token token = 0;
  int signs = 0;
  // Until a hint arrives. The target's waits depend only on what its polls return.
  const bool heard = pair.until([&] {
    if (pair.insist([&] { return pair[0].rma()->put(1, pair.key(), 8, bytes, false, ++token); }).kind !=
        Kind::posted)
      return true;
    for (int i = 0; i < 100; ++i) signs += pair[1].poll(pair.heard(1));
    return Pair::calls().hints != 0 && signs > 1;
  });
  EXPECT_TRUE(heard);
  EXPECT_GT(Pair::calls().hints, 0);
  EXPECT_GT(signs, 1);
  EXPECT_TRUE(pair.heard(1).packets.empty());
  EXPECT_TRUE(pair.heard(1).signals.empty());
}

TEST(OfiOperations, APutWithSignalIsOneCallAndTwoWhereItsNumbersAreLarge) {
  Pair pair(kProvider);
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  ASSERT_NO_FATAL_FAILURE(warm_up(pair));
  const auto bytes = bytes_of(1000);
  for (const Signal signal : {Signal{3, 1}, Signal{3, 1 << 20}}) {
    Pair::calls() = {};
    std::ranges::fill(pair.memory(), std::byte{0});
    pair.heard(1).signals.clear();
    pair.heard(0).completed_ones.clear();
    ASSERT_EQ(
        pair.insist([&] { return pair[0].signal()->put_signal(1, pair.key(), 16, bytes, signal, 5); }).kind,
        Kind::posted);
    ASSERT_TRUE(pair.until([&] { return !pair.heard(1).signals.empty(); }));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), pair.memory().begin() + 16));
    EXPECT_EQ(pair.heard(1).signals.front().add, signal.add);
    EXPECT_TRUE(pair.end_of(5));
    EXPECT_EQ(Pair::calls().all(), signal.add == 1 ? 1 : 2);
  }
}

TEST(OfiOperations, MoreThanTheQueueAnswersRetryAndHalfIsLeftForOthers) {
  for (const std::uint32_t queue : {1u, 7u, 8u}) {
    OfiOptions options;
    options.queue = queue;
    Pair pair(kProvider, options, 3);
    if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
    ASSERT_NO_FATAL_FAILURE(warm_up(pair));
    alignas(8) const std::byte header[8]{};
    const auto to_third = [&] { return pair[0].send(2, header, {}, 0); };
    ASSERT_EQ(pair.insist(to_third).kind, Kind::done);
    ASSERT_TRUE(pair.until([&] { return !pair.heard(2).packets.empty(); }));
    const auto bytes = bytes_of(100'000);
    core::Token posted = 0;
    while (pair[0].rma()->put(1, pair.key(), 0, bytes, false, 100 + posted).kind == Kind::posted) ++posted;
    EXPECT_EQ(posted, (queue + 1) / 2);
    if (queue > 1) {
      EXPECT_EQ(to_third().kind, Kind::done) << "the others' half";
    }
    for (core::Token token = 0; token < posted; ++token) EXPECT_TRUE(pair.end_of(100 + token));
  }
}

TEST(OfiOperations, AWrongKeyEndsThePutWithAnError) {
  Pair pair(kProvider);
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  ASSERT_NO_FATAL_FAILURE(warm_up(pair));
  auto blob = pair.exported();
  blob[0] ^= std::byte{0x55};
  const auto wrong = pair[0].rma()->import_key(1, blob);
  ASSERT_TRUE(wrong);
  const auto bytes = bytes_of(100);
  const core::Post post = pair.insist([&] { return pair[0].rma()->put(1, *wrong, 0, bytes, false, 6); });
  if (post.kind == Kind::posted) {
    const Status status = pair.end_of(6);
    EXPECT_FALSE(status) << "it ended well";
    EXPECT_NE(status.code(), ErrorCode::timed_out) << "it did not end";
  } else {
    EXPECT_EQ(post.kind, Kind::failed);
  }
}

TEST(OfiOperations, PiecesAreOneCallAlsoWhereLocalBuffersAreRegistered) {
  for (const bool registers : {false, true}) {
    OfiOptions options;
    options.register_local = registers;
    Pair pair(kProvider, options);
    if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
    ASSERT_NO_FATAL_FAILURE(warm_up(pair));
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{50'000}}) {
      const auto sent = bytes_of(bytes);
      const core::Bytes all(sent);
      const std::vector<core::Bytes> from{all.first(10), all.subspan(10)};
      const std::vector<core::RemotePiece> to{{70'000, bytes - 20}, {8, 20}};
      Pair::calls() = {};
      ASSERT_EQ(pair.insist([&] { return pair[0].vector()->put_pieces(1, pair.key(), to, from, 5); }).kind,
                Kind::posted);
      EXPECT_TRUE(pair.end_of(5));
      EXPECT_EQ(Pair::calls().all(), 1);
      EXPECT_TRUE(std::equal(sent.begin(), sent.end() - 20, pair.memory().begin() + 70'000));
      EXPECT_TRUE(std::equal(sent.end() - 20, sent.end(), pair.memory().begin() + 8));
      std::vector<std::byte> read(bytes);
      const core::MutableBytes whole(read);
      const std::vector<core::MutableBytes> places{whole.first(1), whole.subspan(1)};
      ASSERT_EQ(pair.insist([&] { return pair[0].vector()->get_pieces(1, pair.key(), to, places, 6); }).kind,
                Kind::posted);
      EXPECT_TRUE(pair.end_of(6));
      EXPECT_EQ(read, sent);
      pair.heard(0).completed_ones.clear();
    }
    EXPECT_TRUE(pair.heard(1).signals.empty());
  }
}

TEST(OfiOperations, PiecesOutsideTheSegmentEndWithAnError) {
  Pair pair(kProvider);
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  ASSERT_NO_FATAL_FAILURE(warm_up(pair));
  const auto bytes = bytes_of(100);
  const std::vector<core::Bytes> from{bytes};
  const std::vector<core::RemotePiece> to{{0, 60}, {pair.memory().size() - 39, 40}};
  ASSERT_EQ(pair.insist([&] { return pair[0].vector()->put_pieces(1, pair.key(), to, from, 5); }).kind,
            Kind::posted);
  const Status status = pair.end_of(5);
  EXPECT_FALSE(status);
  EXPECT_NE(status.code(), ErrorCode::timed_out);
  EXPECT_EQ(pair.memory().back(), std::byte{0});
}

TEST(OfiOperations, PiecesOfOnesOwnMemoryAreCopiedAtOnce) {
  Pair pair(kProvider);
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  const auto mine = pair[1].rma()->import_key(1, pair.exported());
  ASSERT_TRUE(mine);
  const auto bytes = bytes_of(10);
  const std::vector<core::Bytes> from{core::Bytes(bytes).first(3), core::Bytes(bytes).subspan(3)};
  const std::vector<core::RemotePiece> to{{5, 4}, {100, 6}};
  ASSERT_EQ(pair[1].vector()->put_pieces(1, *mine, to, from, 5).kind, Kind::done);
  std::vector<std::byte> read(10);
  const std::vector<core::MutableBytes> places{read};
  ASSERT_EQ(pair[1].vector()->get_pieces(1, *mine, to, places, 6).kind, Kind::done);
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(pair.memory()[100], bytes[4]);
  const std::vector<core::RemotePiece> outside{{5, 4}, {pair.memory().size() - 5, 6}};
  EXPECT_EQ(pair[1].vector()->put_pieces(1, *mine, outside, from, 7).why, ErrorCode::out_of_range);
}

TEST(OfiOperations, AtomicsOfFloatsAreThoseOfTheLibrary) {
  Pair pair(kProvider);
  // This machine has no libfabric, or libfabric has no such provider.
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  const core::NativeAtomics* const atomics = pair[0].atomics();
  ASSERT_NE(atomics, nullptr);
  for (const AtomicType type : {AtomicType::f32, AtomicType::f64}) {
    EXPECT_TRUE(atomics->operations().has(AtomicOp::add, type));
    EXPECT_TRUE(atomics->operations().has(AtomicOp::swap, type));
    for (const AtomicOp op : {AtomicOp::bit_and, AtomicOp::bit_or, AtomicOp::bit_xor})
      EXPECT_FALSE(atomics->operations().has(op, type)) << static_cast<int>(op);
  }
  EXPECT_TRUE(atomics->operations().has(AtomicOp::min, AtomicType::i32));
  EXPECT_TRUE(atomics->operations().has(AtomicOp::compare_swap, AtomicType::u64));
}

TEST(OfiOperations, AKeyOfAnotherShapeIsNotSupported) {
  Pair pair(kProvider);
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  const auto blob = bytes_of(5);
  EXPECT_EQ(pair[0].rma()->import_key(1, blob).status().code(), ErrorCode::not_supported);
}

TEST(OfiOperations, AnotherProvidersAddressIsRefusedByName) {
  Pair pair(kProvider);
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  auto foreign = pair[1].address();
  foreign[8] = std::byte{'x'};
  const std::vector<std::vector<std::byte>> addresses{pair[0].address(), foreign};
  const Status status = pair[0].connect(addresses);
  EXPECT_EQ(status.code(), ErrorCode::bad_setting);
  ASSERT_FALSE(pair.log().empty());
  EXPECT_THAT(pair.log().back(), testing::HasSubstr("AQUEDUCT_OFI_PROVIDER"));
}

TEST(OfiOperations, AnAddressOfAnotherLengthIsRefused) {
  Pair pair(kProvider);
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  auto shorter = pair[1].address();
  shorter.pop_back();
  const Status status = pair[0].connect(std::vector<std::vector<std::byte>>{pair[0].address(), shorter});
  EXPECT_EQ(status, Status(ErrorCode::bad_setting, 1));
  EXPECT_THAT(pair.log().back(), testing::HasSubstr("AQUEDUCT_OFI_DOMAIN"));
}

}  // namespace
}  // namespace aqueduct::conduits::ofi
