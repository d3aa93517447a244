#pragma once

#include "conduits/udp/carrier/carrier.hpp"
#include "conduits/udp/protocol/wire.hpp"

#include <array>
#include <cstddef>
#include <memory>

namespace aqueduct::conduits::udp {

/// A GSO batch: packets to one peer that leave in one system call. All have the same length; the last may be shorter.
class GsoBatch {
 public:
  static constexpr std::size_t kMostPackets = 64;
  /// Room for the header and frame of a packet of bulk data, and for a packet of acknowledgements.
  static constexpr std::size_t kHead = 192;
  static_assert(kHead >= sizeof(PacketHeader) + sizeof(AckFrame) + kMostAckRanges * sizeof(AckRange));
  static_assert(kHead >= sizeof(PacketHeader) + sizeof(PutFrame) + sizeof(SignalPart) + sizeof(WordPart));

  GsoBatch() : scratch_(std::make_unique<std::byte[]>(kScratch)) {}

  void clear() noexcept { packets_ = pieces_ = bytes_ = segment_ = 0; }
  bool empty() const noexcept { return packets_ == 0; }
  std::size_t packets() const noexcept { return packets_; }
  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t segment() const noexcept { return segment_; }

  /// Memory for the next packet's header and frames, if they have none of their own.
  std::byte* head() noexcept { return heads_[packets_].data(); }
  /// Meaningless bytes, as many as a datagram may have.
  const std::byte* filler() const noexcept { return scratch_.get(); }
  /// Memory in which the next packet may be assembled as one piece.
  std::byte* scratch() noexcept { return scratch_.get() + bytes_; }

  /// Appends a packet: `front`, then `data`. Both must stay valid until the batch has been sent.
  void append(const std::byte* front, std::size_t front_bytes, const std::byte* data,
              std::size_t data_bytes) noexcept {
    const std::size_t whole = front_bytes + data_bytes;
    if (packets_++ == 0) segment_ = whole;
    bytes_ += whole;
    iovec_[pieces_++] = {const_cast<std::byte*>(front), front_bytes};
    if (data_bytes == 0) return;
    if (data == front + front_bytes) {
      iovec_[pieces_ - 1].iov_len = whole;
    } else {
      iovec_[pieces_++] = {const_cast<std::byte*>(data), data_bytes};
    }
  }
  /// Whether a packet of `whole` bytes may be appended, if the batch may have at most `bytes` bytes and `packets`
  /// packets.
  bool fits(std::size_t whole, std::size_t bytes, std::size_t packets) const noexcept {
    return packets_ == 0 || (whole <= segment_ && packets_ < packets && packets_ < kMostPackets &&
                             bytes_ + whole <= bytes && bytes_ == packets_ * segment_);
  }

  Outgoing outgoing(const Address& to, bool may_fragment) const noexcept {
    return {&to, {iovec_.data(), pieces_}, bytes_, segment_, may_fragment};
  }

 private:
  static constexpr std::size_t kScratch = 66'560;  // the longest datagram or batch, and a margin

  std::size_t packets_ = 0;
  std::size_t pieces_ = 0;
  std::size_t bytes_ = 0;
  std::size_t segment_ = 0;
  std::array<iovec, 2 * kMostPackets> iovec_;
  alignas(64) std::array<std::array<std::byte, kHead>, kMostPackets> heads_;
  std::unique_ptr<std::byte[]> scratch_;  // for encrypted copies
};

}  // namespace aqueduct::conduits::udp
