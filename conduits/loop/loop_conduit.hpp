#pragma once

#include "conduits/loop/loop_collectives.hpp"
#include "conduits/loop/loop_native.hpp"
#include "conduits/loop/loop_network.hpp"
#include "core/conduit.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::conduits::loop {

/// The conduit of one rank.
class LoopConduit final : public core::Conduit {
 public:
  LoopConduit(LoopNetwork& network, Rank me);
  ~LoopConduit() override;

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return native_.get(); }
  core::NativeSignal* signal() noexcept override { return native_.get(); }
  core::NativeVector* vector() noexcept override { return native_.get(); }
  core::NativeAtomics* atomics() noexcept override { return native_.get(); }
  core::NativeUpdates* updates() noexcept override { return native_.get(); }
  core::CrossMap* cross_map() noexcept override { return cross_map_.get(); }
  core::NativeCollectives* collectives() noexcept override { return collectives_.get(); }
  std::string state_of(Rank peer) const override;

 private:
  int deliver(core::Inbox& inbox) noexcept;
  int report_losses(core::Inbox& inbox) noexcept;

  LoopNetwork& network_;
  Rank me_;
  core::Properties properties_;
  std::vector<bool> serves_;                 // by rank, from `connect`
  std::vector<bool> reported_;               // by rank: Inbox::lost was called
  Rank closed_seen_ = 0;                     // network_.closed() when all of these had been reported
  std::unique_ptr<LoopNative> native_;       // null unless loop_native=rma or all
  std::unique_ptr<LoopCrossMap> cross_map_;  // null unless loop_native=all
  std::unique_ptr<LoopNativeCollectives> collectives_;  // null unless loop_collectives=on
};

}  // namespace aqueduct::conduits::loop
