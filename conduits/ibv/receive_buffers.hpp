#pragma once

#include "conduits/ibv/bounce_buffers.hpp"
#include "conduits/ibv/verbs.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace aqueduct::conduits::ibv {

struct Connection;

/// The buffers for peers' messages: one for each granted credit. Buffers are added when a peer is connected; with a
/// shared receive queue they serve all peers.
class ReceiveBuffers {
 public:
  struct Buffer {
    std::byte* bytes = nullptr;
    std::uint32_t key = 0;
    Connection* of = nullptr;  ///< the connection whose queue pair has it; null: the shared queue
  };

  /// `shared` may be null. `most`: the number of buffers, at most; `bytes`: the size of each.
  ReceiveBuffers(const Verbs& verbs, ibv_pd& domain, ibv_srq* shared, std::uint32_t most, std::size_t bytes)
      : verbs_(verbs), domain_(domain), shared_(shared), unused_(most), bytes_(bytes) {}

  /// Adds up to `wanted` buffers and posts them. Returns how many credits to grant, or a negative errno.
  std::int64_t add(Connection& connection, std::uint32_t wanted);
  /// Posts a connection's buffers to its new queue pair. False: the device refuses.
  bool post_again(Connection& connection) noexcept;

  static std::uint64_t id_of(const Buffer& buffer) noexcept {
    return reinterpret_cast<std::uint64_t>(&buffer);
  }
  static Buffer& of_id(std::uint64_t id) noexcept { return *reinterpret_cast<Buffer*>(id); }

  /// The message was taken: `repost` will post the buffer again.
  void freed(Buffer& buffer) noexcept { freed_.push_back(&buffer); }
  /// Posts the freed buffers again. True: all of them are posted.
  bool repost() noexcept;

  std::size_t bytes() const noexcept { return bytes_; }
  bool is_shared() const noexcept { return shared_ != nullptr; }

 private:
  /// What became of a list of receives: how many the device took, and the errno for which it refused the next one.
  struct Posted {
    std::size_t count = 0;
    int error = 0;
  };
  Posted post(Buffer* const* buffers, std::size_t count) noexcept;

  const Verbs& verbs_;
  ibv_pd& domain_;
  ibv_srq* shared_;
  std::uint32_t unused_;
  std::size_t bytes_;
  std::vector<RegisteredPages> pages_;
  std::deque<Buffer> buffers_;  // a deque, because work requests hold pointers to them
  std::vector<Buffer*> freed_;
};

}  // namespace aqueduct::conduits::ibv
