#pragma once

#include "conduits/udp/carrier/carrier.hpp"
#include "conduits/udp/carrier/delayed_datagrams.hpp"
#include "conduits/udp/carrier/fault_dice.hpp"
#include "conduits/udp/carrier/fault_plan.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace aqueduct::conduits::udp {

/// A carrier that treats arriving datagrams as a bad network would, according to a plan. Sent datagrams pass unchanged:
/// the receiver's carrier applies its own plan, so each datagram meets one plan.
///
/// Faults apply in this order: longer than `mtu`, lost, no room in the queue of `rate`, duplicated, delayed and
/// reordered, corrupted.
class FaultyCarrier final : public Carrier {
 public:
  using Clock = std::function<Time()>;
  /// `stream`: different for each carrier with the same seed, such as the rank.
  FaultyCarrier(std::unique_ptr<Carrier> below, const FaultPlan& plan, Clock clock, std::uint64_t stream);

  struct Faults {
    std::uint64_t seen = 0, delivered = 0;
    std::uint64_t too_long = 0, lost = 0, duplicated = 0, reordered = 0, corrupted = 0;
    std::uint64_t over_rate = 0;  ///< dropped because the queue of `rate` was full
    /// Dropped because too many bytes are delayed (DelayedDatagrams::kMostBytes).
    std::uint64_t no_memory = 0;
  };
  const Faults& faults() const noexcept { return faults_; }
  Carrier& below() noexcept { return *below_; }

  void only_peer(const Address& peer) noexcept override { below_->only_peer(peer); }
  std::size_t most_segments() const noexcept override { return below_->most_segments(); }
  std::size_t most_bytes() const noexcept override { return below_->most_bytes(); }
  std::size_t send(std::span<const Outgoing> batch) noexcept override { return below_->send(batch); }
  /// Each Incoming holds one datagram; at most 64 datagrams for each read.
  std::span<const Incoming> receive(std::size_t most) noexcept override;
  Time deadline() const noexcept override;
  int descriptor() const noexcept override { return below_->descriptor(); }
  const Counters& counters() const noexcept override { return below_->counters(); }
  int last_error() const noexcept override { return below_->last_error(); }
  std::size_t too_long() noexcept override { return below_->too_long(); }

 private:
  void admit(Time now, std::span<const std::byte> datagram) noexcept;
  void schedule(Time leaves, std::span<const std::byte> datagram) noexcept;
  bool pass_rate(Time now, std::size_t bytes, Time& leaves) noexcept;
  void flip_bits(std::span<std::byte> datagram) noexcept;

  static constexpr std::size_t kReadDatagrams = 64;
  static constexpr std::size_t kMostDelivered = 1024;

  std::unique_ptr<Carrier> below_;
  FaultPlan plan_;
  Clock clock_;
  FaultDice dice_;
  Faults faults_;
  DelayedDatagrams delayed_;
  std::vector<DelayedDatagrams::Datagram> delivered_;  // the caller uses their memory until the next receive
  std::vector<Incoming> incoming_;
  Time line_free_ = 0;  // when the rate-limited line has sent all that waits
};

}  // namespace aqueduct::conduits::udp
