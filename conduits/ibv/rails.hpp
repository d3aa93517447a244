#pragma once

#include "conduits/ibv/environment.hpp"
#include "conduits/ibv/rail.hpp"

#include <memory>
#include <span>
#include <vector>

namespace aqueduct::conduits::ibv {

/// The rails of one endpoint; there may be none. Rail i of one rank talks to rail i of another.
class Rails {
 public:
  explicit Rails(const Environment& env) : env_(env) {}
  ~Rails();
  Rails(const Rails&) = delete;
  Rails& operator=(const Rails&) = delete;

  /// Opens one for each port. The log says what was refused.
  Status open(std::span<const Port> ports);

  // Queue pairs on the rails, made and connected together with a peer's first one. A failure is a warning: that rail is
  // not used.
  void make(Rank peer) noexcept;
  void connect(Rank peer, const Hello& hello) noexcept;

  bool empty() const noexcept { return rails_.empty(); }
  std::size_t size() const noexcept { return rails_.size(); }
  Rail& operator[](std::size_t index) const noexcept { return *rails_[index]; }
  auto begin() const noexcept { return rails_.begin(); }
  auto end() const noexcept { return rails_.end(); }

  /// Registers a segment on each rail that can, and appends what peers need for that to the segment's key.
  void add_segment(SegmentId id, core::MutableBytes memory, std::vector<std::byte>& key);
  void remove_segment(SegmentId id) noexcept;
  /// The memory is about to be unmapped or freed: drops registrations of it.
  void invalidate(core::Bytes memory) noexcept;
  /// Reads what `add_segment` appended to a peer's key. `handle`: of the first port.
  void import(std::uint64_t handle, core::Bytes key);
  /// The remote key of the peer's segment on a rail; 0: the rail cannot reach it.
  std::uint32_t key_of(std::uint64_t handle, std::size_t index) const noexcept {
    return handle < keys_.size() ? keys_[handle][index] : 0;
  }

  /// Readable when any port's completion channel is.
  int descriptor() const noexcept { return descriptor_; }

 private:
  const Environment& env_;
  std::vector<std::unique_ptr<Rail>> rails_;
  std::vector<std::array<std::uint32_t, kMostRails - 1>> keys_;  // by handle
  int descriptor_ = -1;
};

/// How many bytes of a segment's key belong to the first port: all, unless rails have appended theirs.
std::size_t first_part_of(core::Bytes key) noexcept;

}  // namespace aqueduct::conduits::ibv
