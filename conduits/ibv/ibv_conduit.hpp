#pragma once

#include "conduits/ibv/ibv_atomics.hpp"
#include "conduits/ibv/ibv_rma.hpp"
#include "conduits/ibv/ibv_vector.hpp"
#include "conduits/ibv/striping.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"
#include "core/pieces.hpp"
#include "core/to_self.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace aqueduct::conduits::ibv {

/// One rank's way to the others by RDMA verbs: a reliable-connected queue pair to each peer that it talks to.
class IbvConduit final : public core::Conduit, public core::Waitable {
 public:
  /// `verbs` and `port` outlive it.
  IbvConduit(const Verbs& verbs, const Port& port, Objects objects, const IbvOptions& options,
             std::uint64_t job, Rank ranks, Rank me, core::Log& log);
  ~IbvConduit() override;

  /// Makes the endpoint ready to receive. The log says what was refused. `rails`: ports beside the first one, for large
  /// transfers; they outlive it.
  Status start(std::span<const Port> rails = {});

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return &rma_; }
  core::NativeSignal* signal() noexcept override { return &rma_; }
  core::NativeVector* vector() noexcept override { return vector_.can() ? &vector_ : nullptr; }
  core::NativeAtomics* atomics() noexcept override { return env_.sizes().atomics ? &atomics_ : nullptr; }
  core::Waitable* waitable() noexcept override { return this; }
  void check_peers(core::Inbox& inbox) noexcept override;
  void forget(Rank peer) noexcept override { losses_.forget(peer); }
  std::string state_of(Rank peer) const override;

  // Waitable (ibv_wait.cpp)
  void arm() noexcept override;
  void disarm() noexcept override;
  void sleep(std::chrono::nanoseconds limit) noexcept override;
  std::chrono::nanoseconds within() const noexcept override;
  int descriptor() const noexcept override {
    if (const int calls = connections_.descriptor(); calls >= 0) return calls;
    return rails_.empty() ? env_.objects.channel->fd : rails_.descriptor();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void drain() noexcept;

  int take_unordered(Link& link, std::uint32_t number, const ibv_wc& completion, core::Inbox& inbox) noexcept;

  void empty_channel() noexcept;  // ibv_wait.cpp

  // What comes back: ibv_poll.cpp.
  int take(const ibv_wc& completion, core::Inbox& inbox) noexcept;
  int take_flight(const ibv_wc& completion, core::Inbox& inbox) noexcept;
  int end_front(Link& link, Status status, core::Inbox& inbox) noexcept;
  int tell(Flight::Kind kind, core::Token token, Status status, core::Inbox& inbox) noexcept;

  // What goes wrong: ibv_lost.cpp.
  void explain(const Link& link, const Flight& flight, const ibv_wc& completion) noexcept;
  void take_events() noexcept;
  int bury(Rank peer, core::Inbox& inbox) noexcept;

  Environment env_;
  Losses losses_;
  core::Properties properties_;
  Memory memory_;
  LocalBuffers buffers_;
  CreditCells cells_;
  Requests requests_;
  ReceiveRoom receive_;
  Credits credits_;
  Messages messages_;
  RemoteAccess access_;
  Rails rails_;
  Connections connections_;
  Bounces bounces_;
  Striping striping_;
  core::ToSelf to_self_;
  Rma rma_;
  Vector vector_;
  Atomics atomics_;
  Rank probed_ = 0;
  bool more_ = false;  // the last poll may have left completions
  bool look_at_channel_ = false;
  bool disarmed_ = true;
};

}  // namespace aqueduct::conduits::ibv
