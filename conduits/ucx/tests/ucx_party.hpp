#pragma once

#include "conduits/loop/tests/party.hpp"
#include "conduits/ucx/ucx_conduit.hpp"
#include "conduits/ucx/ucx_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Replaces functions of UCX.
using Faults = std::function<void(Library&)>;

/// One process of a job: settings, a log whose lines are kept, and the network.
class UcxProcess {
 public:
  UcxProcess(Rank ranks, const std::string& transports, const std::string& progress = "0",
             std::uint64_t job = 1, const std::string& put = "auto", const Faults& faults = nullptr)
      : log_(core::LogLevel::warn,
             [this](core::LogLevel, std::string_view line) { lines_.emplace_back(line); }) {
    EXPECT_TRUE(config_.set("near", "off"));
    EXPECT_TRUE(config_.set("ucx_transports", transports));
    EXPECT_TRUE(config_.set("ucx_progress", progress));
    EXPECT_TRUE(config_.set("ucx_put", put));
    process_ = {&config_, &log_, job, ranks, std::vector<Rank>(ranks), std::vector<std::uint32_t>(ranks)};
    std::iota(process_.mine.begin(), process_.mine.end(), Rank{0});
    if (faults) {
      make_faulty(faults);
    } else if (auto made = UcxNetwork::make(process_)) {
      network_ = *std::move(made);
    }
  }

  core::Network* network() noexcept { return network_.get(); }
  const std::vector<std::string>& lines() const noexcept { return lines_; }

 private:
  void make_faulty(const Faults& faults) {
    std::string why;
    auto ucp = Library::load(why);
    if (!ucp) return;
    faults(*ucp);
    auto context = Context::open(*ucp, context_options_of(config_, process_.host, process_.mine.size()), why);
    if (context != nullptr) network_ = std::make_unique<UcxNetwork>(process_, std::move(context));
  }

  Config config_;
  std::vector<std::string> lines_;
  core::Log log_;
  core::Process process_;
  std::unique_ptr<core::Network> network_;
};

/// A process with all ranks of a job, opened and connected.
class UcxParty : public UcxProcess, public loop::Party {
 public:
  explicit UcxParty(Rank ranks, const std::string& transports, const std::string& progress = "0",
                    const std::string& put = "auto", const Faults& faults = nullptr)
      : UcxProcess(ranks, transports, progress, 1, put, faults), loop::Party(network(), ranks) {}

  UcxConduit& ucx(Rank rank) { return dynamic_cast<UcxConduit&>((*this)[rank]); }

  /// Polls all ranks that are open until the condition holds, for at most 20 s.
  template <class Condition>
  bool poll_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      for (Rank rank = 0; rank < ranks(); ++rank) {
        if (!is_closed(rank)) poll(rank);
      }
      if (std::chrono::steady_clock::now() > end) return condition();
    }
    return true;
  }
  void leave(Rank rank) {
    closed_.push_back(rank);
    close(rank);
  }

 private:
  bool is_closed(Rank rank) const { return std::find(closed_.begin(), closed_.end(), rank) != closed_.end(); }

  std::vector<Rank> closed_;
};

}  // namespace aqueduct::conduits::ucx
