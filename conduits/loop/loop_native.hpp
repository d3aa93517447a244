#pragma once

#include "conduits/loop/transfers.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::conduits::loop {

class LoopNetwork;

/// The longest put or get; the layers above split longer ones. Chosen: short enough that tests reach the limit.
inline constexpr std::size_t kMaxTransfer = 64 * 1024;

/// Puts, gets, transfers of pieces, puts with signal, and atomics, as a network would do them.
///
/// A post only records the operation. The bytes move at a later poll of the initiator, immediately before the
/// completion; with a seed, in random order. So code that relies on more than the contract fails on loop. Puts with
/// `inject` are done at the call.
class LoopNative final : public core::NativeRma,
                         public core::NativeSignal,
                         public core::NativeVector,
                         public core::NativeAtomics,
                         public core::NativeUpdates {
 public:
  LoopNative(LoopNetwork& network, Rank me);

  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;

  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token) noexcept override;
  bool takes_words() const noexcept override { return true; }
  core::Post put_signal_word(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                             const core::RemoteWord& word, core::Token token) noexcept override;
  std::size_t most_local() const noexcept override { return kMostLocalPieces; }
  std::size_t most_remote() const noexcept override { return kMostRemotePieces; }
  core::Post put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                        std::span<const core::Bytes> from, core::Token token) noexcept override;
  core::Post get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                        std::span<const core::MutableBytes> to, core::Token token) noexcept override;
  core::AtomicSet operations() const noexcept override { return core::AtomicSet::whole(); }
  core::Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;
  core::Post update(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;

  /// Carries out some of the posted operations. Returns the number of completions delivered.
  int carry_out(core::Inbox& inbox) noexcept { return transfers_.carry_out(inbox); }

 private:
  core::Post post(const Transfer& transfer) noexcept;
  core::Post post_on_word(Transfer::Kind kind, Rank peer, std::uint64_t key, std::uint64_t offset,
                          const detail::AtomicCall& call, core::Token token) noexcept;
  template <class Local>
  core::Post post_pieces(Transfer::Kind kind, Rank peer, std::uint64_t key,
                         std::span<const core::RemotePiece> remote, std::span<const Local> local,
                         core::Token token) noexcept;

  LoopNetwork& network_;
  Rank me_;
  Transfers transfers_;
};

/// Maps segments of other ranks. All ranks share an address space, so the key is the address itself.
class LoopCrossMap final : public core::CrossMap {
 public:
  LoopCrossMap(LoopNetwork& network, Rank me) : network_(network), me_(me) {}

  Result<core::MutableBytes> allocate(std::uint32_t number, std::size_t bytes) override;
  void release(core::MutableBytes memory) noexcept override;
  std::vector<std::byte> export_map(SegmentId id, core::MutableBytes memory, bool allocated) override;
  Result<std::byte*> map(Rank peer, core::Bytes key, std::size_t bytes) override;
  void wake(Rank) noexcept override {}  // loop has no sleepers

 private:
  LoopNetwork& network_;
  Rank me_;
};

}  // namespace aqueduct::conduits::loop
