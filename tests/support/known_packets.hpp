#pragma once

#include "am/wire.hpp"
#include "coll/engine/agreement_wire.hpp"
#include "coll/wire.hpp"
#include "rma/wire.hpp"
#include "vis/wire.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

/// Packets from a peer, with valid headers and any contents, for tests and fuzz targets.
namespace aqueduct::test {

/// A handler, as packets name it.
struct KnownHandler {
  HandlerId id;
  AmCategory category;
  std::uint16_t args_bytes;
  std::uint32_t raw = 0;  ///< of a raw message (am/wire.hpp)
};

/// The handlers of the library's layers.
inline constexpr std::array kLayersHandlers{
    KnownHandler{rma::kPut, AmCategory::medium_request, sizeof(rma::PutPiece)},
    KnownHandler{rma::kPutAck, AmCategory::short_reply, sizeof(rma::PutAck)},
    KnownHandler{rma::kGet, AmCategory::short_request, sizeof(rma::GetPiece)},
    KnownHandler{rma::kGetData, AmCategory::medium_reply, sizeof(rma::GetData)},
    KnownHandler{rma::kAtomic, AmCategory::short_request, sizeof(rma::AtomicRequest)},
    KnownHandler{rma::kAtomicResult, AmCategory::short_reply, sizeof(rma::AtomicResult)},
    KnownHandler{rma::kSignal, AmCategory::short_request, sizeof(rma::SignalRequest)},
    KnownHandler{coll::kArrive, AmCategory::short_request, sizeof(coll::Arrival)},
    KnownHandler{coll::kExchange, AmCategory::medium_request, sizeof(coll::ExchangePiece)},
    KnownHandler{rma::kPutWord, AmCategory::medium_request, sizeof(rma::PutWordPiece)},
    KnownHandler{vis::kPackedPut, AmCategory::medium_request, sizeof(vis::PackedRequest)},
    KnownHandler{vis::kPackedGet, AmCategory::medium_request, sizeof(vis::PackedRequest)},
    KnownHandler{vis::kPackedData, AmCategory::medium_reply, sizeof(vis::PackedData)},
    KnownHandler{am::kCollAbort, AmCategory::short_request, sizeof(coll::AbortedCall)},
    KnownHandler{am::kCollAsk, AmCategory::short_request, sizeof(coll::CallQuestion)},
    KnownHandler{am::kCollTell, AmCategory::short_reply, sizeof(coll::CallAnswer)},
    KnownHandler{coll::kFarewell, AmCategory::short_request, sizeof(coll::Farewell)},
};

/// A packet in memory of exactly its length, so that a sanitizer finds reads beyond it; 8-byte aligned.
struct ExactPacket {
  std::unique_ptr<std::byte[]> memory;
  std::size_t size = 0;
  std::span<const std::byte> bytes() const noexcept { return {memory.get(), size}; }
};

inline ExactPacket exact_copy(std::span<const std::byte> bytes) {
  ExactPacket packet{std::make_unique<std::byte[]>(bytes.size()), bytes.size()};
  if (!bytes.empty()) std::memcpy(packet.memory.get(), bytes.data(), bytes.size());
  return packet;
}

/// A packet whose head and payload lie apart, as Inbox::packet_in_parts takes it. The payload ends where its memory does.
class PacketApart {
 public:
  PacketApart(std::span<const std::byte> packet, std::size_t head)
      : head_(exact_copy(packet.first(head))), bytes_(packet.size() - head) {
    memory_.reset(static_cast<std::byte*>(::operator new(kBefore + bytes_, kAlignment)));
    if (bytes_ != 0) std::memcpy(memory_.get() + kBefore, packet.data() + head, bytes_);
  }
  std::span<const std::byte> head() const noexcept { return head_.bytes(); }
  std::span<std::byte> payload() const noexcept { return {memory_.get() + kBefore, bytes_}; }

 private:
  static constexpr std::size_t kBefore = 64;
  static constexpr std::align_val_t kAlignment{64};
  struct Release {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, kAlignment); }
  };
  ExactPacket head_;
  std::size_t bytes_;
  std::unique_ptr<std::byte, Release> memory_;
};

/// A packet for that handler. `body` has, in this order, the target of a long message, the arguments and the payload.
/// A body that is too short is padded with zeroes.
inline ExactPacket packet_for(const KnownHandler& handler, std::span<const std::byte> body,
                              std::uint16_t credits = 0) {
  using namespace am;
  const std::size_t head = sizeof(PacketHeader) + (is_long(handler.category) ? sizeof(LongTarget) : 0) +
                           padded(handler.args_bytes);
  const std::size_t behind = std::max(head - sizeof(PacketHeader), body.size());
  const std::size_t payload =
      handler.category == AmCategory::short_request || handler.category == AmCategory::short_reply
          ? 0
          : behind + sizeof(PacketHeader) - head;
  ExactPacket packet{std::make_unique<std::byte[]>(head + payload), head + payload};
  const PacketHeader header{is_request(handler.category) ? PacketKind::request : PacketKind::reply,
                            handler.category,
                            handler.id,
                            credits,
                            handler.args_bytes,
                            static_cast<std::uint32_t>(payload),
                            handler.raw};
  std::memcpy(packet.memory.get(), &header, sizeof header);
  const std::size_t copied = std::min(body.size(), packet.size - sizeof header);
  if (copied != 0) std::memcpy(packet.memory.get() + sizeof header, body.data(), copied);
  return packet;
}

template <class Args>
ExactPacket packet_of(HandlerId id, const Args& args, std::span<const std::byte> payload = {}) {
  const auto* const known = std::find_if(kLayersHandlers.begin(), kLayersHandlers.end(),
                                         [id](const KnownHandler& one) { return one.id == id; });
  std::vector<std::byte> body(am::padded(sizeof args) + payload.size());
  std::memcpy(body.data(), &args, sizeof args);
  if (!payload.empty()) std::memcpy(body.data() + am::padded(sizeof args), payload.data(), payload.size());
  return packet_for(*known, body);
}

}  // namespace aqueduct::test
