#pragma once

#include "compat/gasnet/state.hpp"

// Active messages as this layer's files hand them on: `messages.cpp` sends, `payloads.cpp` negotiates, `arrivals.cpp` runs handlers.
//
// All messages go through one space of raw handlers. The message's number is the handler's; its tag names the endpoints at
// both ends, and says if the payload is a notice in place of one.

/// What a handler gets: the message that it answers. It lives on the stack of the thread that runs the handler.
struct aqg_token {
  aqueduct::RawContext* message = nullptr;  ///< null: a message of this rank to itself
  aqueduct::Rank source = 0;
  unsigned here = 0;   ///< the endpoint that got the message
  unsigned there = 0;  ///< and the one that sent it
  const gex_AM_Entry_t* entry = nullptr;
  bool is_request = false;
  bool is_long = false;
  bool replied = false;  ///< to a message of this rank to itself
};

namespace aqueduct::gasnet {

using Bytes = std::span<const std::byte>;
using Words = std::span<const std::uint32_t>;

enum Notice : unsigned {
  kNone = 0,
  kPlaced =
      1,  ///< a long message whose bytes, if any, the sender has stored itself: the payload is a PlacedBytes
  kReply = 2,  ///< to a reply handler, though it is a request: the notice of a VIS transfer
};

/// Where the bytes of a long message are, in the memory of the rank that gets it.
struct PlacedBytes {
  std::uint64_t address;
  std::uint64_t bytes;
};

constexpr std::uint16_t tag_of(unsigned notice, unsigned from, unsigned to) noexcept {
  return static_cast<std::uint16_t>(notice | from << 2 | to << 8);
}

inline Words words_of(unsigned count, const gex_AM_Arg_t* args) noexcept {
  return {reinterpret_cast<const std::uint32_t*>(args), count};
}
inline Bytes bytes_of(const void* from, std::size_t bytes) noexcept {
  return {static_cast<const std::byte*>(from), bytes};
}

/// The category and role of a message. A handler is registered for certain ones.
struct Kind {
  bool is_short;
  bool is_long;
  bool is_request;
  gex_Flags_t category() const noexcept {
    return is_short ? GEX_FLAG_AM_SHORT : is_long ? GEX_FLAG_AM_LONG : GEX_FLAG_AM_MEDIUM;
  }
  gex_Flags_t role() const noexcept { return is_request ? GEX_FLAG_AM_REQUEST : GEX_FLAG_AM_REPLY; }
};

inline constexpr Kind kShortRequest{true, false, true};
inline constexpr Kind kMediumRequest{false, false, true};
inline constexpr Kind kLongRequest{false, true, true};
inline constexpr Kind kShortReply{true, false, false};
inline constexpr Kind kMediumReply{false, false, false};
inline constexpr Kind kLongReply{false, true, false};

/// A message to this rank: its handler runs inside the call, as in GASNet.
void loop_back(unsigned from, unsigned to, const Kind& kind, gex_AM_Index_t handler, const void* source,
               std::size_t bytes, void* dest, Words words);

/// Send a request to another rank, and return GASNet's result. `call` is the function that an error names.
int request_medium(const char* call, const Peer& peer, gex_AM_Index_t handler, const void* source,
                   std::size_t bytes, gex_Event_t* lc_opt, gex_Flags_t flags, Words words);
int request_long(const char* call, const Peer& peer, gex_AM_Index_t handler, const void* source,
                 std::size_t bytes, void* dest, gex_Event_t* lc_opt, gex_Flags_t flags, Words words);

/// Whom a reply to `token` goes to.
inline Peer answered(gex_Token_t token) noexcept { return {token->source, token->here, token->there}; }
/// Sends the reply to `token`.
int reply(const char* call, gex_Token_t token, const Kind& kind, gex_AM_Index_t handler, const void* source,
          std::size_t bytes, void* dest, gex_Event_t* lc_opt, Words words);

/// Whether this thread has a payload of a request, or of a reply, that is prepared and neither committed nor cancelled.
bool has_prepared(bool is_request) noexcept;

/// The client may change its source when the call returns.
inline void free_at_once(gex_Event_t* lc_opt) noexcept {
  if (reinterpret_cast<std::uintptr_t>(lc_opt) > 3) *lc_opt = GEX_EVENT_INVALID;
}

}  // namespace aqueduct::gasnet
