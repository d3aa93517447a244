#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/measure/sampler.hpp"
#include "tools/aqperf/raw/raw_memory.hpp"

#include <cstdint>
#include <functional>
#include <span>

// What it costs that one aligned word moves whole (docs/memory-model.md, M-1 and M-3).

namespace aqueduct::perf {

namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

/// Blocking transfers of 8 bytes at `offset` of the peer's part.
Subject transfers_at(Session& session, const Role& role, bool is_put, std::uint64_t offset) {
  Endpoint* const ep = &session.ep();
  const auto there = session.target(role.peer == kNoRank ? session.rank() : role.peer) + offset;
  std::byte* const here = session.buffer().data();
  const auto run = [=](std::uint64_t turns) {
    repeat(turns, [=, bytes = unknown(kWordBytes)] {
      if (is_put) {
        require(put(*ep, there, std::span<const std::byte>(here, bytes)), "put");
      } else {
        require(get(*ep, std::span(here, bytes), there), "get");
      }
    });
  };
  if (!role.active) return {[](std::uint64_t) {}, false};
  return {run, true};
}

void word(Session& session, Reporter& reporter, bool is_put) {
  const Role role = session.pair();
  // Half in one word and half in the next: the library promises nothing for such bytes, so they go the conduit's own way.
  const Subject apart = transfers_at(session, role, is_put, kWordBytes / 2);
  const Raw raw{apart, "the same bytes across two words", {}, /*always=*/true};
  reporter.add(
      measure(session, session.options().bench, kWordBytes, {}, transfers_at(session, role, is_put, 0), raw));
}

}  // namespace

void word_put(Session& session, Reporter& reporter) { word(session, reporter, true); }
void word_get(Session& session, Reporter& reporter) { word(session, reporter, false); }

}  // namespace aqueduct::perf
