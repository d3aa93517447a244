#include "rma/aside.hpp"

#include <aqueduct/copy_bytes.hpp>

#include "am/head.hpp"
#include "core/apply_atomic.hpp"
#include "rma/wire.hpp"

#include <cstring>

// Runs at the same time as the owner's thread. So the only memory of the endpoint that it uses is the word itself,
// which it loads, stores or changes once. A wrong request goes to the owner, which answers it with the error.

namespace aqueduct::rma {
namespace {

constexpr std::size_t kArgsAt = sizeof(am::PacketHeader);
static_assert(kArgsAt + sizeof(AtomicResult) <= core::AsideDone::kMostAnswer);
static_assert(kArgsAt + sizeof(GetData) + sizeof(std::uint64_t) <= core::AsideDone::kMostAnswer);
static_assert(sizeof(am::PacketHeader) <= core::AsideDone::kMostRest);
static_assert(sizeof(PutPiece) % 8 == 0 && sizeof(GetData) % 8 == 0, "the payload follows at once");

using Memory = core::MutableBytes (*)(const void* what, SegmentId id) noexcept;

/// Finds this rank's word at a place that a peer names; null if it is not a word of the segment.
struct Words {
  Memory memory;
  const void* what;

  std::byte* find(SegmentId id, std::uint64_t offset, std::uint64_t bytes) const noexcept {
    const core::MutableBytes mine = memory(what, id);
    if (offset > mine.size() || bytes > mine.size() - offset) return nullptr;
    std::byte* const at = mine.data() + offset;
    return aqueduct::detail::is_word(reinterpret_cast<std::uintptr_t>(at), bytes) ? at : nullptr;
  }
};

template <class T>
T read_args(core::Bytes packet) noexcept {
  T args;
  std::memcpy(&args, packet.data() + kArgsAt, sizeof args);
  return args;
}

/// Writes the answer's packet. It returns the request's credit, as every reply does.
template <class T>
bool answer_with(core::AsideDone& done, AmCategory category, ReferenceHandler handler, const T& args,
                 core::Bytes payload = {}) noexcept {
  am::Head head({am::PacketKind::reply, category, handler, 1, sizeof args,
                 static_cast<std::uint32_t>(payload.size()), 0});
  head.append(&args, sizeof args);
  const core::Bytes front = head.bytes();
  std::memcpy(done.answer.data(), front.data(), front.size());
  if (!payload.empty()) std::memcpy(done.answer.data() + front.size(), payload.data(), payload.size());
  done.answer_bytes = front.size() + payload.size();
  return true;
}

bool is_known(const AtomicRequest& request) noexcept {
  return core::AtomicSet::exists(request.op, request.type);
}

bool do_atomic(core::Bytes packet, const Words& words, core::AsideDone& done) noexcept {
  const auto request = read_args<AtomicRequest>(packet);
  if (!is_known(request)) return false;
  std::byte* const at = words.find(request.segment, request.offset, core::bytes_of(request.type));
  if (at == nullptr) return false;
  const AtomicResult result{
      request.token, core::apply_atomic(request.op, request.type, request.operand, request.expected, at), 0};
  return answer_with(done, AmCategory::short_reply, kAtomicResult, result);
}

bool do_put(core::Bytes packet, const Words& words, core::AsideDone& done) noexcept {
  const auto piece = read_args<PutPiece>(packet);
  const core::Bytes payload = packet.subspan(kArgsAt + sizeof piece);
  if (piece.add != 0) return false;  // the owner raises its counters
  std::byte* const to = words.find(piece.segment, piece.offset, payload.size());
  if (to == nullptr || !aqueduct::detail::copy_word(to, payload.data(), payload.size())) return false;
  return answer_with(done, AmCategory::short_reply, kPutAck, PutAck{piece.token, 0});
}

bool do_get(core::Bytes packet, const Words& words, core::AsideDone& done) noexcept {
  const auto piece = read_args<GetPiece>(packet);
  const std::byte* const from = words.find(piece.segment, piece.offset, piece.bytes);
  std::uint64_t word = 0;
  if (from == nullptr || !aqueduct::detail::copy_word(&word, from, piece.bytes)) return false;
  return answer_with(done, AmCategory::medium_reply, kGetData, GetData{piece.token, piece.at, 0},
                     {reinterpret_cast<const std::byte*>(&word), piece.bytes});
}

}  // namespace

bool words_aside(core::Bytes packet, Memory memory, const void* what, core::AsideDone& done) noexcept {
  am::PacketHeader header;
  if (packet.size() < sizeof header) return false;
  std::memcpy(&header, packet.data(), sizeof header);
  if (header.kind != am::PacketKind::request || header.payload_bytes > sizeof(std::uint64_t) ||
      packet.size() != std::size_t{sizeof header} + header.args_bytes + header.payload_bytes)
    return false;
  const auto is = [&](ReferenceHandler handler, AmCategory category, std::size_t args_bytes) {
    return header.handler == handler && header.category == category && header.args_bytes == args_bytes;
  };
  const Words words{memory, what};
  bool served = false;
  if (is(kAtomic, AmCategory::short_request, sizeof(AtomicRequest)) && header.payload_bytes == 0) {
    served = do_atomic(packet, words, done);
  } else if (is(kPut, AmCategory::medium_request, sizeof(PutPiece))) {
    served = do_put(packet, words, done);
  } else if (is(kGet, AmCategory::short_request, sizeof(GetPiece)) && header.payload_bytes == 0) {
    served = do_get(packet, words, done);
  }
  if (!served) return false;
  done.rest_bytes = 0;
  if (header.credits != 0) {  // the request also returned credits to the owner, which gets them in a packet
    const am::PacketHeader rest{am::PacketKind::credits, AmCategory::short_reply, 0, header.credits, 0, 0, 0};
    done.rest_bytes = sizeof rest;
    std::memcpy(done.rest.data(), &rest, sizeof rest);
  }
  return true;
}

}  // namespace aqueduct::rma
