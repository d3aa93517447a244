#pragma once

#include <aqueduct/aqueduct.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

namespace aqueduct::conformance {

/// Attaches a segment of the ranks' own memory, that many words on each, all 0. The memory stays: others may still use
/// it when a body ends. Returns the place of rank 0's first word.
inline GlobalPtr<std::byte> attach_memory(Endpoint& me, std::size_t words) {
  static std::deque<std::vector<std::uint64_t>> all;  // ranks may be threads of one process
  static std::mutex mutex;
  std::vector<std::uint64_t>* mine = nullptr;
  {
    const std::lock_guard lock(mutex);
    mine = &all.emplace_back(words);
  }
  const auto segment = Segment::attach(me, std::as_writable_bytes(std::span(*mine)));
  EXPECT_TRUE(segment) << segment.status().text();
  return {0, 0, segment ? segment->id() : 0};
}

}  // namespace aqueduct::conformance
