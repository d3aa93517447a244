#pragma once

#include "conduits/loop/dice.hpp"
#include "conduits/loop/fault_plan.hpp"
#include "conduits/loop/faulty_native.hpp"
#include "core/network.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conduits::loop {

/// A network around another one, which misbehaves as a plan says. For tests: it allocates as it likes.
class FaultyNetwork final : public core::Network {
 public:
  FaultyNetwork(std::unique_ptr<core::Network> inner, Rank ranks, const FaultPlan& plan);

  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

  /// Cuts a rank off: what it sends from now on vanishes, posts to it fail, its peers are told that it is
  /// lost, and it that all of them are. Ranks of this process only.
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

/// A conduit around another one. Sleeping and native collectives are not passed on.
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
  core::CrossMap* cross_map() noexcept override;
  void check_peers(core::Inbox& inbox) noexcept override;
  std::string state_of(Rank peer) const override { return inner_->state_of(peer); }

  /// Does the operation on the conduit underneath, under the token given.
  using Attempt = std::function<core::Post(core::Token, core::Bytes header, core::Bytes payload)>;
  struct Operation {
    Rank peer;
    core::Token token;
    core::Bytes header = {};
    core::Bytes payload = {};
    bool take = false;    // the payload is the user's again when `start` returns
    bool repeats = true;  // may be done twice without writing to the user's memory after its completion
  };
  /// Starts an operation, or does what the plan has for it instead.
  core::Post start(const Operation& operation, Attempt attempt);
  bool is_cut(Rank peer) const noexcept { return network_.is_cut(me_, peer); }

 private:
  /// An operation that was answered `posted`, or that the user knows nothing of.
  struct Record {
    Attempt attempt;
    Rank peer = kNoRank;
    core::Token token = 0;  // the user's
    bool tell = false;      // whether the user waits for a completion
    bool waiting = false;   // still to be attempted, at poll `due`
    std::uint64_t due = 0;
    std::vector<std::byte> header;
    std::vector<std::byte> copy;  // of the payload, when that may not be read later
    core::Bytes payload;
  };
  struct Held {
    std::uint64_t due;
    Rank from;
    std::vector<std::byte> packet;
  };
  class Receiver;

  std::size_t add_record(const Operation& operation, bool tell, Attempt attempt);
  void add_late(const Operation& operation, bool tell, bool copy, Attempt attempt);
  core::Properties altered() const;
  void finish(std::size_t index) noexcept;
  bool attempt_late(core::Inbox& inbox, std::size_t index) noexcept;
  int deliver_held(core::Inbox& inbox, Rank only_from = kAnyRank) noexcept;
  int report_deaths(core::Inbox& inbox) noexcept;

  const FaultyNetwork& network_;
  std::unique_ptr<core::Conduit> inner_;
  Rank me_;
  FaultPlan plan_;
  Dice dice_;
  core::Properties properties_;
  FaultyNative native_;
  std::uint64_t polls_ = 0;
  int refusals_ = 0;            // one after the other
  std::deque<Record> records_;  // a token of the conduit underneath is an index
  std::vector<std::size_t> free_;
  std::vector<Held> held_;
  std::vector<bool> told_;  // by rank: Inbox::lost was called
};

}  // namespace aqueduct::conduits::loop
