#pragma once

#include "core/endpoint_state.hpp"

#include <memory>
#include <vector>

namespace aqueduct::detail {

/// The room for one negotiated payload, from prepare to commit.
struct Prepared {
  Rank to = kNoRank;
  GlobalPtr<std::byte> place;               ///< of a long message: the target
  std::span<std::byte> buffer;              ///< the memory that the caller fills
  std::vector<std::byte>* owner = nullptr;  ///< the pool's buffer; null: `buffer` is the mapped target itself
  bool immediate = false;
};

}  // namespace aqueduct::detail

namespace aqueduct::am {

/// The buffers for negotiated payloads: AQUEDUCT_PREPARED of them, each allocated at its first use.
class PreparedPool {
 public:
  PreparedPool(std::size_t count, std::size_t bytes);
  /// Null if all are in use.
  detail::Prepared* take() noexcept;
  /// Gives it the first `bytes` bytes of a buffer of the pool.
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
