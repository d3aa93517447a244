#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace aqueduct::conduits::ibv {

/// A work request and its one piece of local memory, both on the stack.
struct Work {
  ibv_send_wr request{};
  ibv_sge piece{};

  /// Sets the piece and points the request to it.
  void set_piece(const void* start, std::uint32_t bytes, std::uint32_t key) noexcept {
    piece = {reinterpret_cast<std::uint64_t>(start), bytes, key};
    request.sg_list = &piece;
    request.num_sge = 1;
  }
};

}  // namespace aqueduct::conduits::ibv
