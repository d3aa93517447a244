// The end of a job waits for connections that conduits have begun.

#include <aqueduct/aqueduct.hpp>

#include "conduits/registry.hpp"
#include "runtime/builder.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace aqueduct {
namespace {

/// Loop's conduit with connections that take some polls.
class ConnectingConduit final : public core::Conduit {
 public:
  ConnectingConduit(std::unique_ptr<core::Conduit> inner, int& questions)
      : inner_(std::move(inner)), questions_(questions) {}

  const core::Properties& properties() const noexcept override { return inner_->properties(); }
  std::vector<std::byte> address() override { return inner_->address(); }
  Status connect(std::span<const std::vector<std::byte>> addresses) override {
    return inner_->connect(addresses);
  }
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override {
    return inner_->send(to, header, payload, token);
  }
  int poll(core::Inbox& inbox) noexcept override {
    polled_ = true;
    return inner_->poll(inbox);
  }
  bool settled() noexcept override {
    EXPECT_TRUE(std::exchange(polled_, false)) << "asked again without a poll";
    return ++questions_ >= kQuestions;
  }
  static constexpr int kQuestions = 5;

 private:
  std::unique_ptr<core::Conduit> inner_;
  int& questions_;
  bool polled_ = false;
};

struct ConnectingNetwork final : core::Network {
  Result<std::unique_ptr<core::Conduit>> open(Rank me) override {
    auto conduit = inner->open(me);
    if (!conduit) return conduit.status();
    return std::unique_ptr<core::Conduit>(
        std::make_unique<ConnectingConduit>(*std::move(conduit), questions[me]));
  }
  std::unique_ptr<core::Network> inner;
  std::vector<int> questions = std::vector<int>(2);
};

TEST(JobEnd, WaitsUntilConnectionsAreMadeAndPollsMeanwhile) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  core::Log log(config, kNoRank);
  const core::Process process{&config, &log, /*job=*/1, 2, {0, 1}, {0, 0}};
  auto loop = conduits::find("loop")->entry->make(process);
  ASSERT_TRUE(loop);
  ConnectingNetwork network;
  network.inner = *std::move(loop);
  auto job = runtime::build_in_process(2, config, network);
  ASSERT_TRUE(job);
  EXPECT_TRUE(job->finish());
  EXPECT_EQ(network.questions, std::vector<int>(2, ConnectingConduit::kQuestions));
}

}  // namespace
}  // namespace aqueduct
