#include "rma/aside.hpp"

#include "am/head.hpp"
#include "core/apply_atomic.hpp"
#include "rma/wire.hpp"

#include <cstring>

namespace aqueduct::rma {
namespace {

constexpr std::size_t kArgsAt = sizeof(am::PacketHeader);
static_assert(kArgsAt + sizeof(AtomicResult) <= core::AsideDone::kMostAnswer);
static_assert(sizeof(am::PacketHeader) <= core::AsideDone::kMostRest);

bool is_known(const AtomicRequest& request) noexcept {
  return core::AtomicSet::exists(request.op, request.type);
}

}  // namespace

// Runs at the same time as the owner's thread. So the only memory of the endpoint that it uses is the word itself,
// which it changes atomically.
bool atomics_aside(core::Bytes packet, core::MutableBytes (*memory)(const void* what, SegmentId id) noexcept,
                   const void* what, core::AsideDone& done) noexcept {
  am::PacketHeader header;
  AtomicRequest request;
  if (packet.size() != kArgsAt + sizeof request) return false;
  std::memcpy(&header, packet.data(), sizeof header);
  std::memcpy(&request, packet.data() + kArgsAt, sizeof request);
  const bool is_atomic = header.kind == am::PacketKind::request &&
                         header.category == AmCategory::short_request && header.handler == kAtomic &&
                         header.args_bytes == sizeof request && header.payload_bytes == 0;
  if (!is_atomic || !is_known(request)) return false;
  const core::MutableBytes mine = memory(what, request.segment);
  const std::size_t bytes = core::bytes_of(request.type);
  // A wrong request goes to the owner, which answers it with the error.
  if (request.offset > mine.size() || bytes > mine.size() - request.offset) return false;
  std::byte* const at = mine.data() + request.offset;
  if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0) return false;

  const AtomicResult result{
      request.token, core::apply_atomic(request.op, request.type, request.operand, request.expected, at), 0};
  // The answer returns the request's credit, as every reply does.
  am::Head answer({am::PacketKind::reply, AmCategory::short_reply, kAtomicResult, 1, sizeof result, 0, 0});
  answer.append(&result, sizeof result);
  done.answer_bytes = answer.bytes().size();
  std::memcpy(done.answer.data(), answer.bytes().data(), done.answer_bytes);
  done.rest_bytes = 0;
  if (header.credits != 0) {  // the request also returned credits to the owner, which gets them in a packet
    const am::PacketHeader rest{am::PacketKind::credits, AmCategory::short_reply, 0, header.credits, 0, 0, 0};
    done.rest_bytes = sizeof rest;
    std::memcpy(done.rest.data(), &rest, sizeof rest);
  }
  return true;
}

}  // namespace aqueduct::rma
