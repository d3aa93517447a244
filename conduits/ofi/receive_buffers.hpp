#pragma once

#include "conduits/ofi/fid.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace aqueduct::conduits::ofi {

/// Where peers' packets land: a few large buffers, each of which takes packets until it is full; or many small ones, each
/// for one packet.
class ReceiveBuffers {
 public:
  /// A buffer holds `bytes`, a packet is at most `most`; if these are equal, each takes one packet.
  ReceiveBuffers(std::size_t count, std::size_t bytes, std::size_t most);

  /// All of the memory, for registration.
  core::MutableBytes memory() noexcept { return {memory_.get(), buffers_.size() * bytes_}; }
  /// Tells the endpoint, once it is enabled, how much room a packet needs.
  int prepare(fid_ep& ep) const noexcept;
  /// Hands all buffers to the endpoint.
  int post_all(fid_ep& ep, void* descriptor) noexcept;

  /// Whether a completion's context is one of these.
  bool owns(const void* context) const noexcept {
    return context >= buffers_.data() && context < buffers_.data() + buffers_.size();
  }
  /// Whether a completion with these flags says that the provider has done with the buffer.
  bool ends(std::uint64_t flags) const noexcept { return (flags & FI_MULTI_RECV) != 0 || !shared(); }
  /// Where a packet is that the provider says to be at `said`, which means something for shared buffers only.
  const std::byte* place_of(void* context, const std::byte* said) const noexcept {
    return shared() ? said : static_cast<Buffer*>(context)->bytes;
  }
  /// The provider has filled one: hands it over again, or at a later `repost` if there is no room now. Answers 0, or why
  /// the provider takes no more of them.
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
