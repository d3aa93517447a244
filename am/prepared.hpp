#pragma once

#include "core/endpoint_state.hpp"

#include <memory>
#include <vector>

namespace aqueduct::detail {

/// Room that was given out for one payload.
struct Prepared {
  Rank to = kNoRank;
  GlobalPtr<std::byte> place;               ///< long: where it goes
  std::span<std::byte> buffer;              ///< the caller's part
  std::vector<std::byte>* owner = nullptr;  ///< null: the destination itself is mapped here
  bool immediate = false;
};

}  // namespace aqueduct::detail

namespace aqueduct::am {

/// The buffers for negotiated payloads: AQUEDUCT_PREPARED of them, each made at its first use.
class PreparedPool {
 public:
  PreparedPool(std::size_t count, std::size_t bytes);
  /// Null when all are given out.
  detail::Prepared* take() noexcept;
  /// A buffer of the pool's size for it.
  void lend_buffer(detail::Prepared& prepared, std::size_t bytes);
  void give_back(detail::Prepared& prepared) noexcept;
  std::size_t buffer_bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  std::vector<detail::Prepared> all_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<detail::Prepared*> free_;
};

}  // namespace aqueduct::am
