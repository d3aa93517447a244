#pragma once

#include "conduits/ibv/bounce_buffers.hpp"
#include "conduits/ibv/verbs.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace aqueduct::conduits::ibv {

struct Link;

/// Where peers' messages land: one buffer for each credit that was granted. Each peer adds its own when it is connected;
/// with a shared receive queue they serve everybody.
class ReceiveBuffers {
 public:
  struct Buffer {
    std::byte* bytes = nullptr;
    std::uint32_t key = 0;
    Link* of = nullptr;  ///< whose queue pair it is posted to; null: to the shared queue
  };

  /// `shared` may be null. `most`: buffers there can be; `bytes`: of each.
  ReceiveBuffers(const Verbs& verbs, ibv_pd& domain, ibv_srq* shared, std::uint32_t most, std::size_t bytes)
      : verbs_(verbs), domain_(domain), shared_(shared), unused_(most), bytes_(bytes) {}

  /// Adds up to `wanted` buffers and posts them. Returns how many credits to grant for them, or a negative errno.
  std::int64_t add(Link& link, std::uint32_t wanted);
  /// Posts those of a link to its new queue pair. False: it does not take them.
  bool post_again(Link& link) noexcept;

  static std::uint64_t id_of(const Buffer& buffer) noexcept {
    return reinterpret_cast<std::uint64_t>(&buffer);
  }
  static Buffer& of_id(std::uint64_t id) noexcept { return *reinterpret_cast<Buffer*>(id); }

  /// A message has been taken: its buffer is posted again by `repost`.
  void freed(Buffer& buffer) noexcept { freed_.push_back(&buffer); }
  /// True: all freed ones are posted.
  bool repost() noexcept;

  std::size_t bytes() const noexcept { return bytes_; }
  bool is_shared() const noexcept { return shared_ != nullptr; }

 private:
  int post(Buffer* const* buffers, std::size_t count) noexcept;

  const Verbs& verbs_;
  ibv_pd& domain_;
  ibv_srq* shared_;
  std::uint32_t unused_;
  std::size_t bytes_;
  std::vector<RegisteredPages> pages_;
  std::deque<Buffer> buffers_;  // which stay where they are
  std::vector<Buffer*> freed_;
};

}  // namespace aqueduct::conduits::ibv
