// Calls that differ from a known one in their addresses alone: what is found of them is what the checks would find.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/engine/checked_request.hpp"
#include "coll/engine/known_call.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <string>

namespace aqueduct::coll {
namespace {

using aqueduct::detail::CollBuffer;
using aqueduct::detail::CollCall;
using aqueduct::detail::TeamState;

constexpr Rank kMembers = 3;
constexpr std::uint64_t kBlock = 4;

class KnownCalls : public testing::Test {
 protected:
  void SetUp() override {
    Config config;
    ASSERT_TRUE(config.set("conduit", "loop"));
    ASSERT_TRUE(config.set("near", "off"));
    ASSERT_TRUE(config.set("log", "off"));
    auto made = Job::in_process(kMembers, config);
    ASSERT_TRUE(made);
    job_.emplace(std::move(*made));
  }
  /// The request of a call; empty if it is refused.
  Result<Request> check(Rank member, const CollCall& call) {
    return checked_request(job_->endpoint(member).world().state(), call, operators_, why_);
  }
  /// A place in the memory, with or without the last address and null among them.
  CollBuffer somewhere(std::uint64_t bytes) {
    CollBuffer buffer;
    buffer.where = CollBuffer::Where::mine;
    buffer.bytes = bytes;
    const auto kind = random_() % 16;
    if (kind == 0)
      buffer.memory = nullptr;
    else if (kind == 1)
      buffer.memory = reinterpret_cast<void*>(UINTPTR_MAX - random_() % 16);
    else
      buffer.memory = memory_.data() + random_() % 24;
    return buffer;
  }
  CollCall call_of(Collective operation, Rank member, bool in_place) {
    Shape shape;
    shape.operation = operation;
    shape.ranks = kMembers;
    shape.root = 1;
    CollCall call;
    call.operation = operation;
    call.type = ElementType::u8;
    call.root = 1;
    if (!in_place) call.in = somewhere(blocks_in(shape, member) * kBlock);
    call.out = somewhere(blocks_out(shape, member) * kBlock);
    return call;
  }

  std::optional<Job> job_;
  UserOperators operators_;
  std::string why_;
  std::array<std::byte, 64> memory_{};
  std::mt19937 random_{17};
};

TEST_F(KnownCalls, FindTheBuffersThatTheChecksFind) {
  std::uint64_t found_again = 0;
  std::uint64_t left_to_checks = 0;
  for (int round = 0; round < 40'000; ++round) {
    const auto operation = static_cast<Collective>(1 + random_() % 10);
    const auto member = static_cast<Rank>(random_() % kMembers);
    const bool in_place = random_() % 4 == 0;
    KnownCall known;
    set_given(known, call_of(operation, member, in_place));
    const auto first = check(member, known.given);
    if (!first) continue;
    ASSERT_TRUE(may_be_known(known.given, *first));
    known.request = *first;
    const CollCall call = call_of(operation, member, in_place);
    ASSERT_TRUE(same_but_for_addresses(known.given, call));
    const auto checked = check(member, call);
    CallMemory memory;
    if (!find_addresses(known, call, memory)) {
      ++left_to_checks;
      continue;
    }
    ++found_again;
    ASSERT_TRUE(checked) << "operation " << static_cast<int>(operation) << ": " << why_;
    EXPECT_EQ(memory.in, checked->in.mine);
    EXPECT_EQ(memory.out, checked->out.mine);
    EXPECT_EQ(checked->shape, first->shape);
    EXPECT_EQ(checked->description, first->description);
  }
  EXPECT_GT(found_again, 5'000u);
  EXPECT_GT(left_to_checks, 500u);
}

TEST_F(KnownCalls, AreOthersIfAnythingElseDiffers) {
  const CollCall known = call_of(Collective::all_reduce, 0, false);
  const auto differs = [&](auto change) {
    CollCall call = known;
    change(call);
    return !same_but_for_addresses(known, call);
  };
  EXPECT_FALSE(differs([](CollCall& call) { call.in.memory = &call; }));
  EXPECT_FALSE(differs([](CollCall& call) { call.out.memory = &call; }));
  EXPECT_FALSE(differs([](CollCall& call) { call.options.limit = std::chrono::seconds(1); }));
  EXPECT_TRUE(differs([](CollCall& call) { call.operation = Collective::scan; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.type = ElementType::i8; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.element = 2; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.root = 0; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.in.bytes += 1; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.out.bytes += 1; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.in.where = CollBuffer::Where::common; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.out.where = CollBuffer::Where::each; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.reducer = ReduceOp::max; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.reducer.number = 1; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.options.in = Sync::none; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.options.out = Sync::none; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.options.order = ReduceOrder::exact; }));
  EXPECT_TRUE(differs([](CollCall& call) { call.options.no_trials = true; }));
}

// An empty buffer may have any address, and a place on all members has to be looked up.
TEST_F(KnownCalls, AreNotEmptyAndHaveNoPlacesOnAllMembers) {
  CollCall call = call_of(Collective::all_reduce, 0, true);
  call.out.memory = memory_.data();
  call.out.bytes = 0;
  const auto empty = check(0, call);
  ASSERT_TRUE(empty);
  EXPECT_FALSE(may_be_known(call, *empty));
  call.out.bytes = kBlock;
  const auto full = check(0, call);
  ASSERT_TRUE(full);
  EXPECT_TRUE(may_be_known(call, *full));
  call.out.where = CollBuffer::Where::common;
  const auto common = check(0, call);
  ASSERT_TRUE(common);
  EXPECT_FALSE(may_be_known(call, *common));
}

}  // namespace
}  // namespace aqueduct::coll
