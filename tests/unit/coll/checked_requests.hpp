#pragma once

// Calls of a team of three, and what the check of a request makes of them.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/engine/checked_request.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::coll::requests {

using aqueduct::detail::CollBuffer;
using aqueduct::detail::CollCall;
using aqueduct::detail::TeamState;

inline CollBuffer memory(const void* at, std::uint64_t bytes) {
  CollBuffer buffer;
  buffer.where = CollBuffer::Where::mine;
  buffer.memory = const_cast<void*>(at);
  buffer.bytes = bytes;
  return buffer;
}
inline CollBuffer common(std::uint64_t offset, std::uint64_t bytes, SegmentId segment = 0) {
  OnAll<char> place;
  place.segment = segment;
  place.offset = offset;
  place.count = bytes;
  return aqueduct::detail::coll_buffer(place);
}
inline CollBuffer listed(const std::vector<GlobalPtr<char>>& places, std::uint64_t bytes) {
  return aqueduct::detail::coll_buffer(on_all(std::span<const GlobalPtr<char>>(places), bytes));
}

/// A call with elements of one byte that fits, for a team of three, if the buffers do.
inline CollCall call_of(Collective operation, const CollBuffer& in, const CollBuffer& out, Rank root = 0) {
  CollCall call;
  call.operation = operation;
  call.type = ElementType::u8;
  call.root = root;
  call.in = in;
  call.out = out;
  return call;
}

class CheckedRequest : public testing::Test {
 protected:
  void SetUp() override { support::start_over_loop(job_, 3); }
  TeamState& team(Rank member) { return job_->endpoint(member).world().state(); }
  Result<Request> check(Rank member, const CollCall& call) {
    why_.clear();
    return checked_request(team(member), call, operators_, why_);
  }
  void refuses(Rank member, const CollCall& call, std::string_view why,
               ErrorCode code = ErrorCode::invalid_argument) {
    const auto request = check(member, call);
    EXPECT_EQ(request.status().code(), code) << why;
    EXPECT_EQ(why_, why);
  }
  /// The request of a call that must fit.
  Request fits(Rank member, const CollCall& call) {
    const auto request = check(member, call);
    EXPECT_TRUE(request) << why_;
    EXPECT_EQ(why_, "");
    return request ? *request : Request{};
  }
  /// A call that fits, after a change.
  CollCall changed(const std::function<void(CollCall&)>& change) {
    CollCall call = call_of(Collective::all_reduce, memory(in_.data(), 8), memory(out_.data(), 8));
    change(call);
    return call;
  }
  std::byte* segment(Rank member) { return job_->endpoint(member).segment().data(); }

  std::optional<Job> job_;
  UserOperators operators_;
  std::string why_;
  std::array<std::byte, 64> in_{};
  std::array<std::byte, 64> out_{};
};

}  // namespace aqueduct::coll::requests
