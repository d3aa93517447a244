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
    auto exported = owner->register_segment(0, memory);
    status = exported.status();
    if (!exported) return;
    auto imported = bench.conduit(0).rma()->import_key(1, *exported);
    status = imported.status();
    if (imported) key = *imported;
  }
  std::vector<std::byte> memory;
  std::uint64_t key = 0;
  Status status;
};

/// Whether the operation under `token` succeeded, by the post's answer or by its completion.
inline bool ends(ConduitBench& bench, const core::Post& post, core::Token token) {
  if (post.kind == core::Post::Kind::done) return bench.inbox(0).completions.count(token) == 0;
  if (post.kind != core::Post::Kind::posted) return false;
  return bench.poll_until([&] { return bench.inbox(0).completions.count(token) != 0; }) &&
         bench.inbox(0).failures.empty();
}

}  // namespace aqueduct::conformance
