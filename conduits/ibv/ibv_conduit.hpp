#pragma once

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
class IbvConduit final : public core::Conduit,
                         public core::NativeRma,
                         public core::NativeSignal,
                         public core::NativeVector,
                         public core::NativeAtomics,
                         public core::Waitable {
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

  core::NativeRma* rma() noexcept override { return this; }
  core::NativeSignal* signal() noexcept override { return this; }
  core::NativeVector* vector() noexcept override;
  core::NativeAtomics* atomics() noexcept override { return env_.sizes().atomics ? this : nullptr; }
  core::Waitable* waitable() noexcept override { return this; }
  void check_peers(core::Inbox& inbox) noexcept override;
  void forget(Rank peer) noexcept override { losses_.forget(peer); }
  std::string state_of(Rank peer) const override;

  // NativeRma, NativeSignal (ibv_rma.cpp, ibv_signal.cpp)
  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token) noexcept override;

  // NativeVector (ibv_vector.cpp)
  std::size_t most_local() const noexcept override;
  std::size_t most_remote() const noexcept override;
  core::Post put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                        std::span<const core::Bytes> from, core::Token token) noexcept override;
  core::Post get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                        std::span<const core::MutableBytes> to, core::Token token) noexcept override;

  // NativeAtomics (ibv_atomics.cpp)
  bool can(AtomicOp op, AtomicType type) const noexcept override;
  core::Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;

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

  // Local buffers, and puts: ibv_rma.cpp.
  core::Post put_long(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                      core::Token token) noexcept;
  core::Post put_to_self(const Key& key, std::uint64_t offset, core::Bytes from) noexcept;

  // Lists of pieces: ibv_vector.cpp.
  struct Pieces;
  template <class Local>
  core::Post transfer_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> remote,
                             std::span<const Local> local, ibv_wr_opcode opcode, core::Token token) noexcept;
  Lent add_piece(Link& link, Pieces& pieces, std::uint64_t key, std::uint64_t offset, core::Bytes part,
                 void* result, bool goes_on, ibv_wr_opcode opcode) noexcept;

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
  Rank probed_ = 0;
  bool more_ = false;  // the last poll may have left completions
  bool look_at_channel_ = false;
  bool disarmed_ = true;
};

}  // namespace aqueduct::conduits::ibv
