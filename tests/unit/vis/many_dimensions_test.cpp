// Transfers of more dimensions than one step has: each consists of several parts, which join its own operation. Both
// ranks are on one thread.

#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace aqueduct::vis {
namespace {

constexpr std::size_t kBits = kMostDimensions + 1;
constexpr std::size_t kBytes = std::size_t{1} << kBits;

/// Byte i lies where the bits of i are in the reverse order. No two dimensions merge.
Strided all_reversed() {
  std::vector<Dimension> dims;
  for (std::size_t bit = 0; bit < kBits; ++bit) dims.push_back({2, std::int64_t{1} << bit});
  return {1, dims};
}

std::size_t reverse(std::size_t i) {
  std::size_t out = 0;
  for (std::size_t bit = 0; bit < kBits; ++bit) out |= (i >> bit & 1) << (kBits - 1 - bit);
  return out;
}

class ManyDimensions : public testing::Test {
 protected:
  void SetUp() override {
    Config config;
    for (const auto& [name, value] : {std::pair{"conduit", "loop"},
                                      {"near", "off"},
                                      {"loop_native", "rma"},
                                      {"segment_bytes", "256K"},
                                      {"vis_plan", "pieces"}})
      ASSERT_TRUE(config.set(name, value)) << name;
    auto made = Job::in_process(2, config);
    ASSERT_TRUE(made);
    job_.emplace(std::move(*made));
    for (std::size_t i = 0; i < kBytes; ++i) sent_[i] = static_cast<std::byte>(i * 7 + i / 256);
  }
  Endpoint& me() { return job_->endpoint(0); }
  Endpoint& peer() { return job_->endpoint(1); }
  RemotePieces there() { return pieces(GlobalPtr<std::byte>{1, 0}, all_reversed()); }
  LocalConstPieces here() { return contiguous(std::as_const(sent_).data(), kBytes); }
  /// The number of bytes that have not arrived.
  std::size_t missing() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < kBytes; ++i) count += peer().segment()[reverse(i)] != sent_[i] ? 1 : 0;
    return count;
  }

  std::vector<std::byte> sent_ = std::vector<std::byte>(kBytes);
  std::optional<Job> job_;
};

// Another thread may begin operations in these waits; here a handler looks in its place.
TEST_F(ManyDimensions, LeaveTheRegionAsItIsWhileTheyWait) {
  int looked = 0;
  bool changed = false;
  const auto look = [&](auto&, const NoArguments&) {
    ++looked;
    changed = changed || me().state().region != nullptr;
  };
  const auto at_me = on_short_request<NoArguments>(me(), look);
  const auto at_peer = on_short_request<NoArguments>(peer(), look);
  ASSERT_TRUE(at_me && at_peer);
  ASSERT_TRUE(request(peer(), 0, *at_peer));
  Event all = put_nb(me(), there(), here(), {.source = SourceReuse::at_return});
  EXPECT_EQ(looked, 1) << "the call has not waited";
  EXPECT_FALSE(changed) << "operations of other threads would have joined the transfer";
  EXPECT_TRUE(me().wait(all));
  EXPECT_EQ(missing(), 0u);
}

TEST_F(ManyDimensions, JoinTheRegionThatIsOpen) {
  ASSERT_TRUE(me().begin_region());
  ASSERT_TRUE(put_nbi(me(), there(), here()));
  Event region = me().end_region();
  EXPECT_FALSE(region.done());
  EXPECT_TRUE(me().wait(region));
  EXPECT_EQ(missing(), 0u);
  EXPECT_TRUE(me().wait_implicit());
}

// The parts go on in the continuation's own progress. They must not join the implicit group, as its operations would.
TEST_F(ManyDimensions, AreWholeInAContinuationToo) {
  std::size_t left = kBytes;
  ASSERT_TRUE(Event().then(me(), [this, &left](Status) {
    Event all = put_nb(me(), there(), here());
    while (!me().test(all)) {
    }
    left = all.status() ? missing() : kBytes;
  }));
  me().progress();
  EXPECT_EQ(left, 0u);
}

// Only the slowest dimension leads to elements that are not aligned, which a part of its own would find too late.
TEST_F(ManyDimensions, AddNothingWhereAnElementIsMisaligned) {
  constexpr std::size_t kElements = std::size_t{1} << kBits;
  std::vector<Dimension> dims(kBits, {2, 24});  // of equal strides, so that no two merge
  dims.front().stride = 1028;
  const Strided misaligned(8, dims);
  const std::vector<std::uint64_t> ones(kElements, 1);
  const Status added = accumulate_strided(me(), GlobalPtr<std::uint64_t>{1, 0}, misaligned, ones.data(),
                                          Strided(8, {{kElements, 8}}));
  EXPECT_EQ(added.code(), ErrorCode::misaligned);
  for (const std::byte byte : peer().segment().first(4096)) ASSERT_EQ(byte, std::byte{0});
}

// As with few dimensions: if one count is 0 there is no element, whatever the others are, and wherever the base is.
TEST_F(ManyDimensions, MayHaveNoElementAmongHugeCounts) {
  std::vector<Dimension> dims;
  for (std::size_t i = 0; i <= kBits; ++i) dims.push_back({std::uint64_t{1} << 40, i % 2 == 0 ? 3 : 1000});
  dims[5].count = 0;
  const Strided none(1, dims);
  const GlobalPtr<std::byte> beyond{1, std::uint64_t{1} << 40};
  std::byte byte{};
  EXPECT_TRUE(put(me(), pieces(beyond, none), LocalConstPieces(pieces(&byte, none))));
  EXPECT_TRUE(get(me(), pieces(&byte, none), pieces(beyond, none)));
}

// As any transfer of pieces with mapped memory.
TEST(ManyDimensionsInAHandler, AreCopiedIfMapped) {
  Config config;
  ASSERT_TRUE(config.set("segment_bytes", "256K"));
  auto job = Job::in_process(1, config);
  ASSERT_TRUE(job);
  Endpoint& me = job->endpoint();
  const std::vector<std::byte> sent(kBytes, std::byte{7});
  std::vector<std::byte> got(kBytes);
  const GlobalPtr<std::byte> there{0, 0};
  Status written = ErrorCode::internal;
  Status read = ErrorCode::internal;
  const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) {
    written = put_signal(me, pieces(there, all_reversed()), contiguous(sent.data(), kBytes), {3, 1});
    read = get(me, contiguous(got.data(), kBytes), pieces(there, all_reversed()));
  });
  ASSERT_TRUE(handler);
  ASSERT_TRUE(request(me, 0, *handler));
  ASSERT_TRUE(me.wait_until([&] { return read.code() != ErrorCode::internal; }, std::chrono::seconds(20)));
  EXPECT_TRUE(written) << written.text();
  EXPECT_TRUE(read) << read.text();
  EXPECT_EQ(got, sent);
  EXPECT_EQ(signal_value(me, 3), 1u);
  EXPECT_TRUE(job->finish());
}

}  // namespace
}  // namespace aqueduct::vis
