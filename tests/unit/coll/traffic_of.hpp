#pragma once

// Jobs of ranks that settings put somewhere, for tests of what collectives in shared memory move inside and across domains.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "topology/machine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll::traffic {

/// A host that AQUEDUCT_TOPOLOGY describes.
struct Host {
  std::uint64_t domains;  ///< packages
  std::uint64_t each;     ///< cores of a package

  std::uint64_t ranks() const noexcept { return domains * each; }
  std::string text() const { return fmt::format("package:{} core:{} pu:1", domains, each); }
};
inline constexpr Host kSmall{2, 4};
inline constexpr std::uint64_t kRanks = 8;
inline constexpr std::uint64_t kOfDomain = 4;
inline constexpr std::uint64_t kBytes = 64 << 10;
inline constexpr std::uint64_t kAcross = kRanks - kOfDomain;  // members of the other domain

inline bool pretends_topology() {
  return topology::read_machine(topology::Source::of("package:2 core:4 pu:1")).problem.empty();
}

/// Those of one rank.
struct TwoBuffers {
  std::span<std::byte> in;
  std::span<std::byte> out;
  Rank rank;
};

/// All ranks make one call; their counters together. `in_segments`: where the buffers are.
inline CollTraffic traffic_of(const std::string& setting, const std::string& algorithm,
                              const std::string& places, bool in_segments,
                              const std::function<Status(Team&, TwoBuffers)>& call,
                              const Host& host = kSmall) {
  Config config;
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"conduit", "smp"},
                                                                                    {"segment_bytes", "2M"},
                                                                                    {"topology", host.text()},
                                                                                    {"places", places},
                                                                                    {setting, algorithm}})
    EXPECT_TRUE(config.set(name, value)) << name;
  auto job = Job::in_process(static_cast<Rank>(host.ranks()), config);
  EXPECT_TRUE(job) << job.status().text();
  CollTraffic sum;
  std::mutex mutex;
  job->run_each([&](Endpoint& me) {
    std::vector<std::byte> here(in_segments ? 0 : 2 * kRanks * kBytes);
    const std::span<std::byte> memory = in_segments ? me.segment() : std::span(here);
    EXPECT_TRUE(
        call(me.world(), {memory.first(kRanks * kBytes), memory.subspan(kRanks * kBytes), me.rank()}));
    const auto mine = coll_traffic(me.world(), 1);
    ASSERT_TRUE(mine);
    const std::lock_guard lock(mutex);
    sum.read_inside += mine->read_inside;
    sum.read_across += mine->read_across;
    sum.written_inside += mine->written_inside;
    sum.written_across += mine->written_across;
    sum.staged += mine->staged;
    sum.touched += mine->touched;
    sum.copied += mine->copied;
  });
  EXPECT_TRUE(job->finish());
  return sum;
}

inline std::span<std::uint64_t> words_of(std::span<std::byte> bytes, std::uint64_t count) {
  return {reinterpret_cast<std::uint64_t*>(bytes.data()), count / sizeof(std::uint64_t)};
}

/// The processors of a machine, such that neighbours are in different domains.
inline std::string scattered(const Host& host) {
  std::string places;
  for (std::uint64_t i = 0; i < host.ranks(); ++i)
    places += fmt::format("{}{}", i == 0 ? "" : ",", i % host.domains * host.each + i / host.domains);
  return places;
}

}  // namespace aqueduct::coll::traffic
