#pragma once

#include "core/conduit.hpp"
#include "core/network.hpp"
#include "tests/conformance/fabric.hpp"

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace aqueduct::conformance {

/// Records everything that one conduit delivers.
class Recorder final : public core::Inbox {
 public:
  struct Packet {
    Rank from;
    std::vector<std::byte> bytes;
  };

  void packet(Rank from, core::Bytes packet) noexcept override;
  void completed(core::Token token, Status status) noexcept override;
  void signalled(Rank from, Signal signal) noexcept override { signals.push_back({from, signal}); }
  void lost(Rank peer) noexcept override { losses.push_back(peer); }

  std::vector<Packet> packets;
  std::map<core::Token, int> completions;  // how often each token was completed
  std::vector<Status> failures;
  std::vector<std::pair<Rank, Signal>> signals;
  std::vector<Rank> losses;
  int misaligned = 0;  // packets that were not 8-byte aligned
  int late = 0;        // packets of ranks that had been reported lost
};

/// Conduits of one process, connected to one another, without the library above them.
class ConduitBench {
 public:
  /// Opens and connects one conduit per rank. Check `status` before anything else.
  ConduitBench(const Fabric& fabric, Rank ranks, const Config& config);

  Status status() const noexcept { return status_; }
  Rank ranks() const noexcept { return static_cast<Rank>(conduits_.size()); }
  core::Conduit& conduit(Rank rank) { return *conduits_[rank]; }
  Recorder& inbox(Rank rank) { return inboxes_[rank]; }
  /// Ends a rank's conduit, as if the rank had left. It must not be used afterwards.
  void close(Rank rank) { conduits_[rank].reset(); }
  /// Polls every rank's conduit once.
  void poll();
  /// Polls until `condition` holds, with a time limit; returns whether it does.
  template <class Condition>
  bool poll_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      poll();
      if (std::chrono::steady_clock::now() > end) return condition();
    }
    return true;
  }
  /// Lets the conduits finish their connections, as the end of a job does.
  ~ConduitBench();
  /// Repeats a post while the answer is retry; returns the answer.
  template <class Attempt>
  core::Post insist(Attempt attempt) {
    core::Post post = attempt();
    poll_until([&] {
      if (post.kind == core::Post::Kind::retry) post = attempt();
      return post.kind != core::Post::Kind::retry;
    });
    return post;
  }

 private:
  Config config_;
  core::Log log_;
  core::Process process_;
  std::unique_ptr<core::Network> network_;
  std::vector<std::unique_ptr<core::Conduit>> conduits_;
  std::vector<Recorder> inboxes_;
  Status status_;
};

}  // namespace aqueduct::conformance
