#pragma once

#include "conduits/sim/sim_network.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::conduits::sim {

/// Bytes up to which a put can copy its source at the call. Chosen.
inline constexpr std::size_t kMaxInject = 64;
/// Chosen: a message of any length is one message, as in the model.
inline constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

/// Puts, gets, puts with signal, and atomics of the simulated network, which needs no processor of the target for them.
///
/// The bytes of a put are read when they have left the port (the source is free then), and are written when all of them
/// are at the target; those of a get are read when the request arrives.
class SimNative final : public core::NativeRma, public core::NativeSignal, public core::NativeAtomics {
 public:
  SimNative(SimNetwork& network, Rank me) : network_(network), me_(me) {}

  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override { network_.unregister_segment(me_, id); }
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;

  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token) noexcept override;
  bool count_in(core::MutableBytes counters) noexcept override {
    network_.count_in(me_, counters);
    return true;
  }
  bool takes_words() const noexcept override { return true; }
  core::Post put_signal_word(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                             const core::RemoteWord& word, core::Token token) noexcept override;
  core::AtomicSet operations() const noexcept override { return core::AtomicSet::whole(); }
  core::Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;

 private:
  Message message(Message::Kind kind, Rank peer, std::uint64_t key, std::uint64_t offset, std::uint64_t bytes,
                  core::Token token) const noexcept;

  SimNetwork& network_;
  Rank me_;
};

}  // namespace aqueduct::conduits::sim
