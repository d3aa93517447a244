#pragma once

#include "core/op.hpp"

#include <array>
#include <cstddef>
#include <memory>

namespace aqueduct::vis {

/// A buffer that a packet is built in, or that a bounding box comes to.
struct Stage {
  std::unique_ptr<std::uint64_t[]> memory;  ///< made at the first use
  core::Op* op = nullptr;                   ///< of a conduit that reads the packet for longer; null: none
  bool taken = false;

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(memory.get()); }
};

/// The buffers of an endpoint: a fixed number of a fixed size.
class Stages {
 public:
  /// Chosen: a packet on its way to each of some peers while the next is packed.
  static constexpr std::size_t kMostStages = 16;

  Stages(core::OpPool& ops, std::size_t bytes) : ops_(ops), bytes_((bytes + 7) & ~std::size_t{7}) {}
  ~Stages() = default;

  std::size_t bytes() const noexcept { return bytes_; }
  /// A free buffer, or null: there will be one after progress.
  Stage* take() noexcept;
  void give_back(Stage& stage) noexcept { stage.taken = false; }

 private:
  core::OpPool& ops_;
  std::size_t bytes_;
  std::array<Stage, kMostStages> all_;
};

}  // namespace aqueduct::vis
