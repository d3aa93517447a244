#pragma once

#include "c/convert.hpp"

#include <optional>

/// What the files of active messages share.
namespace aqueduct::c {

inline std::span<const std::uint32_t> words_of(const aq_call& call) noexcept {
  return {call.words, call.count};
}
/// Whether there is no call, or it has no words where it says that there are some.
inline bool is_missing(const aq_call* call) noexcept {
  return call == nullptr || (call->words == nullptr && call->count != 0);
}
/// For refuse_null, behind the call itself.
inline PointerArgument words_argument(const aq_call* call) noexcept {
  return {"call->words", call != nullptr ? call->words : nullptr};
}
inline RawCall raw_of(const aq_call& call) noexcept { return {call.number, call.tag, words_of(call)}; }

inline HandlerSpace whole(const aq_space* space) noexcept { return std::bit_cast<HandlerSpace>(*space); }

/// The context of the message that a handler was called with; null if it is a reply, which cannot be answered.
inline RequestContext* request_of(const aq_incoming* incoming) noexcept {
  return incoming->category <= AQ_LONG_REQUEST ? static_cast<RequestContext*>(incoming->message) : nullptr;
}
/// The same for a raw message. Requires: incoming->is_raw.
inline RawContext* raw_request_of(const aq_incoming* incoming) noexcept {
  return static_cast<RawContext*>(request_of(incoming));
}

}  // namespace aqueduct::c
