#pragma once

#include "core/conduit.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::conformance {

class FaultyConduit;

/// The native operations of a FaultyConduit. Each goes through FaultyConduit::start.
///
/// Requires: the inner conduit has the capability that is called.
class FaultyNative final : public core::NativeRma,
                           public core::NativeSignal,
                           public core::NativeVector,
                           public core::NativeAtomics,
                           public core::NativeUpdates {
 public:
  FaultyNative(FaultyConduit& outer, core::Conduit& inner) : outer_(outer), inner_(inner) {}

  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  void forget_key(Rank peer, std::uint64_t key) noexcept override { inner_.rma()->forget_key(peer, key); }
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token) noexcept override;
  bool takes_words() const noexcept override { return inner_.signal()->takes_words(); }
  core::Post put_signal_word(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                             const core::RemoteWord& word, core::Token token) noexcept override;
  std::size_t most_local() const noexcept override { return inner_.vector()->most_local(); }
  std::size_t most_remote() const noexcept override { return inner_.vector()->most_remote(); }
  core::Post put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                        std::span<const core::Bytes> from, core::Token token) noexcept override;
  core::Post get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                        std::span<const core::MutableBytes> to, core::Token token) noexcept override;
  core::AtomicSet operations() const noexcept override;
  core::Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;
  core::Post update(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;

 private:
  FaultyConduit& outer_;
  core::Conduit& inner_;
};

}  // namespace aqueduct::conformance
