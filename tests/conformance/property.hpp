#pragma once

#include "tests/conformance/conduit_bench.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace aqueduct::conformance {

/// Checks a conduit against its Properties directly: all ranks in one process, and no library above.
class Property : public FabricTest {
 protected:
  void on_bench(Rank ranks, const std::function<void(ConduitBench&)>& body) {
    if (!fabric().one_process()) GTEST_SKIP() << "done on the fabrics of one process";
    run_alone([&](const Config& config) {
      ConduitBench bench(fabric(), ranks, config);
      ASSERT_TRUE(bench.status()) << bench.status().text();
      body(bench);
    });
  }
};

/// Rank 1's registered memory, and rank 0's handle for it.
struct Target {
  explicit Target(ConduitBench& bench, std::size_t bytes) : memory(bytes) {
    core::NativeRma* owner = bench.conduit(1).rma();
    auto registered = owner->register_segment(0, memory);
    status = registered.status();
    if (!registered) return;
    exported = *std::move(registered);
    auto imported = bench.conduit(0).rma()->import_key(1, exported);
    status = imported.status();
    if (imported) key = *imported;
  }
  std::vector<std::byte> memory;
  std::vector<std::byte> exported;  // what other ranks import
  std::uint64_t key = 0;
  Status status;
};

/// Sends one packet of 8 bytes, `number`. Returns whether it was posted, so that a completion follows.
inline bool send_number(ConduitBench& bench, Rank from, Rank to, std::uint64_t number, core::Token token) {
  const core::Post post = bench.insist(
      [&] { return bench.conduit(from).send(to, std::as_bytes(std::span(&number, 1)), {}, token); });
  EXPECT_TRUE(post.kind == core::Post::Kind::done || post.kind == core::Post::Kind::posted);
  return post.kind == core::Post::Kind::posted;
}

/// Sends a packet from every rank to every other, and waits for all: what a conduit does at first sends is over.
inline bool meet(ConduitBench& bench) {
  constexpr core::Token kFirst = core::Token{1} << 40;
  std::size_t posted = 0;
  for (Rank from = 0; from < bench.ranks(); ++from) {
    for (Rank to = 0; to < bench.ranks(); ++to) {
      if (to != from) posted += send_number(bench, from, to, 0, kFirst + to);
    }
  }
  const bool met = bench.poll_until([&] {
    std::size_t completed = 0;
    bool all = true;
    for (Rank rank = 0; rank < bench.ranks(); ++rank) {
      completed += bench.inbox(rank).completions.size();
      all = all && bench.inbox(rank).packets.size() + 1 == bench.ranks();
    }
    return all && completed == posted;
  });
  for (Rank rank = 0; rank < bench.ranks(); ++rank) {
    bench.inbox(rank).packets.clear();
    bench.inbox(rank).completions.clear();
  }
  return met;
}

/// Whether the operation under `token` succeeded, by the post's answer or by its completion.
inline bool ends(ConduitBench& bench, const core::Post& post, core::Token token) {
  if (post.kind == core::Post::Kind::done) return bench.inbox(0).completions.count(token) == 0;
  if (post.kind != core::Post::Kind::posted) return false;
  return bench.poll_until([&] { return bench.inbox(0).completions.count(token) != 0; }) &&
         bench.inbox(0).failures.empty();
}

}  // namespace aqueduct::conformance
