#pragma once

#include "core/dice.hpp"
#include "core/network.hpp"
#include "tests/conformance/faults/fault_plan.hpp"
#include "tests/conformance/faults/faulty_native.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conformance {

/// A network that wraps another one and injects the faults of a plan. For tests; it allocates memory freely.
class FaultyNetwork final : public core::Network {
 public:
  FaultyNetwork(std::unique_ptr<core::Network> inner, Rank ranks, const FaultPlan& plan);

  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

  /// Cuts a rank off. From now on its packets vanish and posts to it fail. Its peers are told that it is lost, and it
  /// is told that all its peers are. Only for ranks of this process.
  ///
  /// Threads: any.
  void die(Rank rank) noexcept { dead_[rank].store(true, std::memory_order_release); }
  bool is_dead(Rank rank) const noexcept { return dead_[rank].load(std::memory_order_acquire); }
  bool is_cut(Rank a, Rank b) const noexcept { return a != b && (is_dead(a) || is_dead(b)); }
  Rank ranks() const noexcept { return ranks_; }

 private:
  std::unique_ptr<core::Network> inner_;
  Rank ranks_;
  FaultPlan plan_;
  std::unique_ptr<std::atomic<bool>[]> dead_;  // by rank
};

/// A conduit that wraps another one, the inner conduit. It does not pass on Waitable and NativeCollectives.
class FaultyConduit final : public core::Conduit {
 public:
  FaultyConduit(const FaultyNetwork& network, std::unique_ptr<core::Conduit> inner, Rank me,
                const FaultPlan& plan);

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override { return inner_->address(); }
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override;
  core::NativeSignal* signal() noexcept override;
  core::NativeVector* vector() noexcept override;
  core::NativeAtomics* atomics() noexcept override;
  core::NativeUpdates* updates() noexcept override;
  core::CrossMap* cross_map() noexcept override;
  void check_peers(core::Inbox& inbox) noexcept override;
  std::string state_of(Rank peer) const override { return inner_->state_of(peer); }
  void memory_ends(core::Bytes memory) noexcept override { inner_->memory_ends(memory); }

  /// Posts the operation to the inner conduit, with the given token.
  using Attempt = std::function<core::Post(core::Token, core::Bytes header, core::Bytes payload)>;
  struct Operation {
    Rank peer;
    core::Token token;
    core::Bytes header = {};
    core::Bytes payload = {};
    bool take = false;    // the user may reuse the payload when `start` returns (inject)
    bool repeats = true;  // a second execution would not write to the user's memory after the completion
  };
  /// Starts an operation, or injects a fault instead.
  core::Post start(const Operation& operation, Attempt attempt);
  bool is_cut(Rank peer) const noexcept { return network_.is_cut(me_, peer); }

 private:
  /// An operation that returned `posted` to the user, or that the user does not know of.
  struct Record {
    Attempt attempt;
    Rank peer = kNoRank;
    core::Token token = 0;  // the user's token
    bool tell = false;      // whether the user expects a completion
    bool waiting = false;   // to be attempted at poll number `due`
    std::uint64_t due = 0;
    std::vector<std::byte> header;
    std::vector<std::byte> copy;  // of the payload, if the original must not be read later
    core::Bytes payload;
  };
  /// A packet that is delivered late, at poll number `due`.
  struct Held {
    std::uint64_t due;
    Rank from;
    std::vector<std::byte> packet;
  };
  class Receiver;

  std::size_t add_record(const Operation& operation, bool tell, Attempt attempt);
  void add_late(const Operation& operation, bool tell, bool copy, Attempt attempt);
  core::Properties altered() const;
  /// Held by posts and polls if the plan has a guard. Recursive, because handlers post from inside a poll.
  std::unique_lock<std::recursive_mutex> guard() noexcept {
    return plan_.guard ? std::unique_lock(mutex_) : std::unique_lock<std::recursive_mutex>();
  }
  void finish(std::size_t index) noexcept;
  bool attempt_late(core::Inbox& inbox, std::size_t index) noexcept;
  int deliver_held(core::Inbox& inbox, Rank only_from = kAnyRank) noexcept;
  int report_deaths(core::Inbox& inbox) noexcept;

  const FaultyNetwork& network_;
  std::unique_ptr<core::Conduit> inner_;
  Rank me_;
  FaultPlan plan_;
  std::recursive_mutex mutex_;
  core::Dice dice_;
  core::Properties properties_;
  FaultyNative native_;
  std::uint64_t polls_ = 0;
  int refusals_ = 0;            // in succession
  std::deque<Record> records_;  // the inner conduit's tokens are indices into this
  std::vector<std::size_t> free_;
  std::vector<Held> held_;
  std::vector<bool> told_;  // by rank: Inbox::lost was called
};

}  // namespace aqueduct::conformance
