#pragma once

#include "conduits/udp/udp.hpp"
#include "core/network.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conduits::udp::connection_tests {

/// The udp conduits of several ranks in this process, connected to one another, with what they delivered and logged.
class ConduitParty {
 public:
  class Inbox final : public core::Inbox {
   public:
    struct Completed {
      core::Token token;
      Status status;
    };
    void packet(Rank, core::Bytes) noexcept override { ++packets; }
    void completed(core::Token token, Status status) noexcept override {
      completions.push_back({token, status});
    }
    void signalled(Rank, Signal signal) noexcept override { signals.push_back(signal); }
    void lost(Rank peer) noexcept override { losses.push_back(peer); }

    int packets = 0;
    std::vector<Completed> completions;
    std::vector<Signal> signals;
    std::vector<Rank> losses;
  };

  using Addresses = std::vector<std::vector<std::byte>>;

  /// `edit` may change the addresses that the conduits exchange.
  explicit ConduitParty(
      Rank ranks, const std::vector<std::pair<std::string, std::string>>& settings = {},
      core::EndpointClock clock = {}, const std::function<void(Addresses&)>& edit = [](Addresses&) {})
      : log_(core::LogLevel::warn, [this](core::LogLevel, std::string_view line) { say(line); }),
        inboxes_(ranks) {
    for (const auto& [name, value] : settings) EXPECT_TRUE(config_.set(name, value)) << name;
    process_ = {
        &config_, &log_, /*job=*/1, ranks, std::vector<Rank>(ranks), std::vector<std::uint32_t>(ranks),
        clock};
    std::iota(process_.mine.begin(), process_.mine.end(), Rank{0});
    network_ = std::move(*udp_entry.make(process_));
    Addresses addresses;
    for (Rank rank = 0; rank < ranks; ++rank) {
      conduits_.push_back(std::move(*network_->open(rank)));
      addresses.push_back(conduits_.back()->address());
    }
    edit(addresses);
    for (const auto& conduit : conduits_) EXPECT_TRUE(conduit->connect(addresses));
  }

  core::Conduit& conduit(Rank rank) { return *conduits_[rank]; }
  Inbox& inbox(Rank rank) { return inboxes_[rank]; }
  /// Ends one rank's conduit.
  void end(Rank rank) { conduits_[rank].reset(); }

  /// Polls all conduits until the condition holds, for at most 20 s. Returns whether it holds.
  template <class Condition>
  bool poll_until(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      for (std::size_t rank = 0; rank < conduits_.size(); ++rank) {
        if (conduits_[rank] != nullptr) conduits_[rank]->poll(inboxes_[rank]);
      }
      if (std::chrono::steady_clock::now() > end) return condition();
    }
    return true;
  }
  /// Warnings and errors since the last call.
  std::string take_said() {
    const std::lock_guard lock(mutex_);
    return std::exchange(said_, {});
  }

 private:
  void say(std::string_view line) {
    const std::lock_guard lock(mutex_);
    said_ += std::string(line) + '\n';
  }

  Config config_;
  std::mutex mutex_;
  std::string said_;
  core::Log log_;
  core::Process process_;
  std::unique_ptr<core::Network> network_;
  std::vector<std::unique_ptr<core::Conduit>> conduits_;
  std::vector<Inbox> inboxes_;
};

}  // namespace aqueduct::conduits::udp::connection_tests
