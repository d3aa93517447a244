#pragma once

#include "core/op.hpp"

#include <array>
#include <cstddef>
#include <memory>

namespace aqueduct::vis {

/// A buffer in which a packet is built, or into which a bounding box is read.
struct StagingBuffer {
  std::unique_ptr<std::uint64_t[]> memory;  ///< allocated at the first use
  core::Op* op = nullptr;                   ///< in flight while a conduit still reads the packet; may be null
  bool taken = false;

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(memory.get()); }
};

/// The stages of an endpoint: a fixed number, each of a fixed size.
class StagingBuffers {
 public:
  /// Chosen: while one packet is in flight to each of a few peers, the next ones can be packed.
  static constexpr std::size_t kMostStagingBuffers = 16;

  StagingBuffers(core::OpPool& ops, std::size_t bytes) : ops_(ops), bytes_((bytes + 7) & ~std::size_t{7}) {}
  ~StagingBuffers() = default;

  std::size_t bytes() const noexcept { return bytes_; }
  /// Takes a free buffer. Null if all are in use, which progress frees, or if there is no memory for it: lacks_memory().
  StagingBuffer* take() noexcept;
  /// Whether the latest `take` has found a place, but no memory.
  bool lacks_memory() const noexcept { return lacks_memory_; }
  void give_back(StagingBuffer& buffer) noexcept { buffer.taken = false; }

 private:
  core::OpPool& ops_;
  std::size_t bytes_;
  bool lacks_memory_ = false;
  std::array<StagingBuffer, kMostStagingBuffers> all_;
};

}  // namespace aqueduct::vis
