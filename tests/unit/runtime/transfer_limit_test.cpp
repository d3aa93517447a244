// Ranks whose conduits differ in their longest transfer: members of a team must choose alike all the same.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "conduits/registry.hpp"
#include "core/endpoint_state.hpp"
#include "runtime/builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace aqueduct {
namespace {

constexpr std::size_t kLeastOfAll = 4096;

/// Loop's conduit with another longest transfer on each rank, as the memory that an adapter may pin makes it.
class LimitedConduit final : public core::Conduit {
 public:
  LimitedConduit(std::unique_ptr<core::Conduit> inner, std::size_t max_transfer)
      : inner_(std::move(inner)), properties_(inner_->properties()) {
    properties_.max_transfer = max_transfer;
    properties_.through_sockets = max_transfer == kLeastOfAll;  // on one of the ranks
  }

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override { return inner_->address(); }
  Status connect(std::span<const std::vector<std::byte>> addresses) override {
    return inner_->connect(addresses);
  }
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override {
    return inner_->send(to, header, payload, token);
  }
  int poll(core::Inbox& inbox) noexcept override { return inner_->poll(inbox); }
  core::NativeRma* rma() noexcept override { return inner_->rma(); }

 private:
  std::unique_ptr<core::Conduit> inner_;
  core::Properties properties_;
};

struct LimitedNetwork final : core::Network {
  Result<std::unique_ptr<core::Conduit>> open(Rank me) override {
    auto conduit = inner->open(me);
    if (!conduit) return conduit.status();
    return std::unique_ptr<core::Conduit>(
        std::make_unique<LimitedConduit>(*std::move(conduit), kLeastOfAll << ((me + 1) % 3)));
  }
  std::unique_ptr<core::Network> inner;
};

TEST(TransferLimits, TheLeastOfAllRanksIsKnownToAll) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  ASSERT_TRUE(config.set("loop_native", "rma"));
  core::Log log(config, kNoRank);
  const core::Process process{&config, &log, /*job=*/1, 3, {0, 1, 2}, {0, 0, 0}};
  auto loop = conduits::find("loop")->entry->make(process);
  ASSERT_TRUE(loop);
  LimitedNetwork network;
  network.inner = *std::move(loop);
  {
    auto job = runtime::build_in_process(3, config, network);
    ASSERT_TRUE(job);
    job->run_each([](Endpoint& ep) {
      EXPECT_EQ(ep.state().least_transfer, kLeastOfAll);
      EXPECT_TRUE(ep.state().through_sockets);
      EXPECT_FALSE(ep.state().near_serves_host);
      // Pieces that follow from each rank's own limit would be a mismatch.
      for (const std::size_t count : {kLeastOfAll / 4, kLeastOfAll, 20 * kLeastOfAll}) {
        std::vector<std::uint32_t> mine(count, ep.rank() + 1);
        std::vector<std::uint32_t> all(3 * count);
        const Status status = all_gather(ep.world(), mine, all);
        ASSERT_TRUE(status) << status.text();
        for (Rank rank = 0; rank < 3; ++rank)
          EXPECT_EQ(std::count(all.begin(), all.end(), rank + 1), static_cast<std::ptrdiff_t>(count));
        ASSERT_TRUE(all_reduce(ep.world(), mine, ReduceOp::sum));
        EXPECT_EQ(std::count(mine.begin(), mine.end(), 6u), static_cast<std::ptrdiff_t>(count));
      }
      ASSERT_TRUE(ep.barrier());
    });
    EXPECT_TRUE(job->finish());
  }
}

TEST(TransferLimits, AHostIsServedByItsNearConduits) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "smp"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& ep) { EXPECT_TRUE(ep.state().near_serves_host); });
  EXPECT_TRUE(job->finish());
}

}  // namespace
}  // namespace aqueduct
