#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace aqueduct::conduits::ibv {

/// A work request on the stack, and its piece of memory.
struct Work {
  ibv_send_wr request{};
  ibv_sge piece{};

  /// The piece is all that the request has.
  void set_piece(const void* start, std::uint32_t bytes, std::uint32_t key) noexcept {
    piece = {reinterpret_cast<std::uint64_t>(start), bytes, key};
    request.sg_list = &piece;
    request.num_sge = 1;
  }
};

}  // namespace aqueduct::conduits::ibv
