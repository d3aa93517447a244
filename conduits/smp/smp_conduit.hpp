#pragma once

#include "conduits/smp/cma.hpp"
#include "conduits/smp/ring.hpp"
#include "conduits/smp/sleep.hpp"
#include "conduits/smp/smp_barrier.hpp"
#include "conduits/smp/smp_map.hpp"
#include "conduits/smp/smp_network.hpp"
#include "core/conduit.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace aqueduct::conduits::smp {

/// Processes, or threads, of one host through shared memory.
class SmpConduit final : public core::Conduit {
 public:
  SmpConduit(SmpNetwork& network, Rank me);
  ~SmpConduit() override;

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return &cma_; }
  core::CrossMap* cross_map() noexcept override { return &map_; }
  core::NativeCollectives* collectives() noexcept override { return &barriers_; }
  core::Waitable* waitable() noexcept override { return &*sleeper_; }

  void check_peers(core::Inbox& inbox) noexcept override;
  std::string state_of(Rank peer) const override;

 private:
  int poll_some(core::Inbox& inbox) noexcept;

  SmpNetwork& network_;
  std::uint32_t local_;  ///< my number on this host
  core::Properties properties_;
  Arena* arena_ = nullptr;
  RankBlock* mine_ = nullptr;
  bool few_ = true;  ///< so few ranks that looking at each ring is cheaper than a bit per sender
  std::memory_order publish_ = std::memory_order_release;
  std::vector<Consumer> in_;  // [local rank]
  struct Out {
    Producer ring;
    RankBlock* block = nullptr;
  };
  std::vector<Out> out_;                     // [local rank]
  const std::uint32_t* local_of_ = nullptr;  // [rank]
  const Rank* rank_of_ = nullptr;            // [local rank]
  bool has_membarrier_;
  std::vector<bool> gone_;  // [local rank] said to be lost
  Map map_;
  Cma cma_;
  Barriers barriers_;
  std::optional<Sleeper> sleeper_;
};

}  // namespace aqueduct::conduits::smp
