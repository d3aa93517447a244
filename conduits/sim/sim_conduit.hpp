#pragma once

#include "conduits/sim/sim_native.hpp"
#include "conduits/sim/sim_network.hpp"
#include "core/conduit.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::conduits::sim {

/// The conduit of one rank.
class SimConduit final : public core::Conduit, private core::Waitable {
 public:
  SimConduit(SimNetwork& network, Rank me);
  ~SimConduit() override;

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return &native_; }
  core::NativeSignal* signal() noexcept override { return &native_; }
  core::NativeAtomics* atomics() noexcept override { return &native_; }
  core::Waitable* waitable() noexcept override { return this; }
  std::optional<core::EndpointClock> clock() const noexcept override {
    return core::EndpointClock(tell, this);
  }
  std::optional<NetworkModel> network_model(Rank peer) const noexcept override;
  std::string state_of(Rank peer) const override;

 private:
  // Waitable: a sleep is virtual too.
  void arm() noexcept override { armed_ = true; }
  void disarm() noexcept override { armed_ = false; }
  void sleep(std::chrono::nanoseconds limit) noexcept override;

  static core::Clock::time_point tell(const void* self) noexcept;
  int deliver(core::Inbox& inbox) noexcept;

  SimNetwork& network_;
  Rank me_;
  core::Properties properties_;
  std::vector<bool> serves_;  // by rank, from `connect`
  SimNative native_;
  News taken_;
  bool armed_ = false;
};

}  // namespace aqueduct::conduits::sim
