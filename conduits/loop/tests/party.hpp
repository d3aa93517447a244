#pragma once

#include "conduits/loop/loop_network.hpp"
#include "conduits/loop/tests/recorder.hpp"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace aqueduct::conduits::loop {

/// All ranks of a network, opened and connected. One thread may use all of them, or one thread each.
class Party {
 public:
  Party(core::Network& network, Rank ranks) : Party(&network, ranks) {}
  /// Without a network, `complete` is false.
  Party(core::Network* network, Rank ranks) : inboxes_(ranks) {
    if (network == nullptr) return;
    std::vector<std::vector<std::byte>> addresses;
    for (Rank rank = 0; rank < ranks; ++rank) {
      auto conduit = network->open(rank);
      if (!conduit) return;  // `complete` stays false
      addresses.push_back((*conduit)->address());
      conduits_.push_back(*std::move(conduit));
    }
    complete_ = true;
    for (auto& conduit : conduits_) complete_ = conduit->connect(addresses).ok() && complete_;
  }

  bool complete() const noexcept { return complete_; }
  Rank ranks() const noexcept { return static_cast<Rank>(inboxes_.size()); }
  core::Conduit& operator[](Rank rank) noexcept { return *conduits_[rank]; }
  Recorder& inbox(Rank rank) noexcept { return inboxes_[rank]; }
  void close(Rank rank) noexcept { conduits_[rank].reset(); }

  int poll(Rank rank) noexcept { return conduits_[rank]->poll(inboxes_[rank]); }
  /// Polls all ranks until that many rounds in succession deliver nothing.
  void poll_until_quiet(int quiet_rounds = 1) noexcept {
    for (int quiet = 0; quiet < quiet_rounds;) {
      int calls = 0;
      for (Rank rank = 0; rank < ranks(); ++rank) {
        if (conduits_[rank]) calls += poll(rank);
      }
      quiet = calls == 0 ? quiet + 1 : 0;
    }
  }

  /// Runs the body once for each rank, each on its own thread, and waits for all.
  void in_threads(const std::function<void(Rank)>& body) {
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < ranks(); ++rank) threads.emplace_back(body, rank);
    for (auto& thread : threads) thread.join();
  }

 private:
  std::vector<std::unique_ptr<core::Conduit>> conduits_;
  std::vector<Recorder> inboxes_;
  bool complete_ = false;
};

/// A party with its own loop network.
class LoopParty : private std::unique_ptr<LoopNetwork>, public Party {
 public:
  explicit LoopParty(Rank ranks, const LoopOptions& options = {}, core::EndpointClock clock = {})
      : std::unique_ptr<LoopNetwork>(std::make_unique<LoopNetwork>(ranks, options, nullptr, clock)),
        Party(*get(), ranks) {}

  LoopNetwork& network() noexcept { return *get(); }
};

}  // namespace aqueduct::conduits::loop
