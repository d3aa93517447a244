#pragma once

#include "conduits/ofi/fid.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace aqueduct::conduits::ofi {

/// Receive buffers: a few large ones, each of which takes packets until it is full (FI_MULTI_RECV), or many small ones
/// for one packet each.
class ReceiveBuffers {
 public:
  /// A buffer holds `bytes`, a packet at most `most`. If these are equal, each buffer takes one packet.
  ReceiveBuffers(std::size_t count, std::size_t bytes, std::size_t most);

  /// All of the memory, for registration.
  core::MutableBytes memory() noexcept { return {memory_.get(), buffers_.size() * bytes_}; }
  /// Tells the endpoint, once it is enabled, how much room a packet needs (FI_OPT_MIN_MULTI_RECV).
  int prepare(fid_ep& ep) const noexcept;
  /// Posts all buffers.
  int post_all(fid_ep& ep, void* descriptor) noexcept;

  /// Whether a completion's context is one of these.
  bool owns(const void* context) const noexcept {
    return context >= buffers_.data() && context < buffers_.data() + buffers_.size();
  }
  /// Whether a completion with these flags means that the provider no longer uses the buffer.
  bool ends(std::uint64_t flags) const noexcept { return (flags & FI_MULTI_RECV) != 0 || !shared(); }
  /// The address of a packet. For shared buffers the provider gives it as `said`; for others `said` is not set.
  const std::byte* place_of(void* context, const std::byte* said) const noexcept {
    return shared() ? said : static_cast<Buffer*>(context)->bytes;
  }
  /// Posts a buffer again that the provider has filled; if there is no room now, a later `repost` does. Answers 0, or
  /// why the provider takes no more buffers.
  int filled(void* context) noexcept;
  int repost() noexcept;
  bool waits() const noexcept { return waiting_ != nullptr; }

 private:
  struct Buffer {
    fi_context2 context;  // the provider's room; first
    std::byte* bytes = nullptr;
    Buffer* next = nullptr;
  };
  struct FreePages {
    void operator()(std::byte* memory) const noexcept;
  };

  bool shared() const noexcept { return bytes_ > most_; }
  int post(Buffer& buffer) noexcept;

  std::size_t bytes_;
  std::size_t most_;
  std::unique_ptr<std::byte, FreePages> memory_;
  std::vector<Buffer> buffers_;
  fid_ep* ep_ = nullptr;
  void* descriptor_ = nullptr;
  Buffer* waiting_ = nullptr;  // for room in the provider's queue
};

}  // namespace aqueduct::conduits::ofi
