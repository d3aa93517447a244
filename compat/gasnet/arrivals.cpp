// Handlers: their tables, and what runs them when a message arrives or a rank sends one to itself.

#include "compat/gasnet/messages.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

namespace aqueduct::gasnet {
namespace {

/// Calls the client's function with `kArgs` arguments after its first ones.
template <std::size_t>
using Arg = gex_AM_Arg_t;
template <std::size_t... I>
void call_short(gex_AM_Fn_t function, gex_Token_t token, const gex_AM_Arg_t* a, std::index_sequence<I...>) {
  static_cast<void>(a);
  reinterpret_cast<void (*)(gex_Token_t, Arg<I>...)>(function)(token, a[I]...);
}
template <std::size_t... I>
void call_payload(gex_AM_Fn_t function, gex_Token_t token, void* payload, std::size_t bytes,
                  const gex_AM_Arg_t* a, std::index_sequence<I...>) {
  static_cast<void>(a);
  reinterpret_cast<void (*)(gex_Token_t, void*, std::size_t, Arg<I>...)>(function)(token, payload, bytes,
                                                                                   a[I]...);
}

struct Caller {
  void (*without)(gex_AM_Fn_t, gex_Token_t, const gex_AM_Arg_t*);
  void (*with)(gex_AM_Fn_t, gex_Token_t, void*, std::size_t, const gex_AM_Arg_t*);
};
template <std::size_t kArgs>
constexpr Caller caller() {
  return {[](gex_AM_Fn_t f, gex_Token_t t, const gex_AM_Arg_t* a) {
            call_short(f, t, a, std::make_index_sequence<kArgs>{});
          },
          [](gex_AM_Fn_t f, gex_Token_t t, void* p, std::size_t n, const gex_AM_Arg_t* a) {
            call_payload(f, t, p, n, a, std::make_index_sequence<kArgs>{});
          }};
}
template <std::size_t... I>
constexpr std::array<Caller, sizeof...(I)> callers(std::index_sequence<I...>) {
  return {caller<I>()...};
}
constexpr auto kCallers = callers(std::make_index_sequence<17>{});

/// Ends the job: what `source` has sent cannot be handled here.
[[noreturn]] void refuse(Rank source, const char* why) {
  static thread_local char call[40];
  std::snprintf(call, sizeof call, "a message of rank %u arrived", source);
  fail(call, why);
}

/// Looks up the client's handler for a message. Ends the job if the client has registered none for it.
const gex_AM_Entry_t& find_handler(Rank source, unsigned endpoint, unsigned number, const Kind& kind,
                                   std::size_t args) {
  aqg_endpoint* ep = endpoint < kEndpoints ? state().endpoints[endpoint].get() : nullptr;
  if (ep == nullptr) refuse(source, "its endpoint was not created here");
#ifdef AQUEDUCT_CHECKED
  if ((ep->capabilities & GEX_EP_CAPABILITY_AM) == 0)
    refuse(source, "its endpoint was created without GEX_EP_CAPABILITY_AM: ask gex_EP_Create for it");
#endif
  // An index for which an endpoint has no handler of its own has the primordial endpoint's.
  if (!ep->known[number]) ep = state().endpoints[0].get();
  if (!ep->known[number]) {
    static thread_local char text[80];
    std::snprintf(text, sizeof text, "no handler is registered for the index %u of endpoint %u", number,
                  endpoint);
    refuse(source, text);
  }
  const gex_AM_Entry_t& entry = ep->handlers[number];
  const bool fits = ep->any_args[number] || ((entry.gex_flags & kind.category()) != 0 &&
                                             (entry.gex_flags & kind.role()) != 0 && entry.gex_nargs == args);
  if (!fits) {
    static thread_local char text[160];
    std::snprintf(
        text, sizeof text,
        "the handler %u of endpoint %u was registered for other messages than a %s %s with %zu arguments",
        number, endpoint,
        kind.is_short  ? "short"
        : kind.is_long ? "long"
                       : "medium",
        kind.is_request ? "request" : "reply", args);
    refuse(source, text);
  }
  return entry;
}

void run(aqg_token& token, bool is_short, void* payload, std::size_t bytes, Words words) {
  const Caller& caller = kCallers[words.size()];
  const auto* const args = reinterpret_cast<const gex_AM_Arg_t*>(words.data());
  if (is_short) {
    caller.without(token.entry->gex_fnptr, &token, args);
  } else {
    caller.with(token.entry->gex_fnptr, &token, payload, bytes, args);
  }
}

/// Aqueduct's handler for all messages of this layer.
void arrived(void*, RawContext& message) {
  const unsigned notice = message.tag() & 3u;
  aqg_token token;
  token.message = &message;
  token.source = message.source();
  token.there = message.tag() >> 2 & 0x3fu;
  token.here = message.tag() >> 8 & 0x3fu;
  const AmCategory category = message.category();
  token.is_request = message.is_request() && notice != kReply;
  token.is_long =
      notice == kPlaced || category == AmCategory::long_request || category == AmCategory::long_reply;
  const bool is_short = category == AmCategory::short_request || category == AmCategory::short_reply;
  token.entry = &find_handler(token.source, token.here, message.number(),
                              {is_short, token.is_long, token.is_request}, message.words().size());
  void* payload = message.payload().data();
  std::size_t bytes = message.payload().size();
  if (notice == kPlaced) {
    PlacedBytes placed{};
    if (bytes != sizeof placed) refuse(token.source, "it is no message of this layer's");
    std::memcpy(&placed, payload, sizeof placed);
    payload = reinterpret_cast<void*>(placed.address);
    bytes = placed.bytes;
  }
  run(token, is_short, payload, bytes, message.words());
}

/// Held by the thread that registers handlers.
std::mutex& registering() {
  static auto* const one = new std::mutex;
  return *one;
}

/// Adds a handler; false if its index is taken or illegal. Index 0 becomes the highest one that is free.
bool add_to(aqg_endpoint& ep, gex_AM_Entry_t& entry, bool any_args) {
  unsigned index = entry.gex_index;
  if (index == 0) {
    for (index = 255; index >= GEX_AM_INDEX_BASE && ep.known[index]; --index) {
    }
  }
  if (index < GEX_AM_INDEX_BASE || ep.known[index]) return false;
  entry.gex_index = static_cast<gex_AM_Index_t>(index);
  ep.handlers[index] = entry;
  ep.any_args[index] = any_args;
  ep.known[index] = true;
  return true;
}

/// What is wrong with an entry of a client's table, whatever its index; null: nothing.
const char* fault_of(const gex_AM_Entry_t& entry) noexcept {
  if (entry.gex_fnptr == nullptr) return "gex_fnptr is null: give the handler's function";
  if (entry.gex_nargs > gex_AM_MaxArgs()) return "gex_nargs is above gex_AM_MaxArgs(), which is 16";
  if ((entry.gex_flags & GEX_FLAG_AM_REQREP) == 0)
    return "gex_flags say neither GEX_FLAG_AM_REQUEST nor GEX_FLAG_AM_REPLY: add one, or GEX_FLAG_AM_REQREP";
  const gex_Flags_t category = entry.gex_flags & (GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDLONG);
  if (category != GEX_FLAG_AM_SHORT && (category == 0 || (category & GEX_FLAG_AM_SHORT) != 0))
    return "gex_flags need one of GEX_FLAG_AM_SHORT, _MEDIUM, _LONG and _MEDLONG";
  return nullptr;
}
/// As fault_of, and what is wrong with its index, beside those that are `taken`, to which it adds this one.
const char* fault_of(const gex_AM_Entry_t& entry, std::array<bool, 256>& taken) noexcept {
  const unsigned index = entry.gex_index;
  if (const char* const fault = fault_of(entry); fault != nullptr || index == 0) return fault;
  if (index < GEX_AM_INDEX_BASE) return "gex_index is below 128: take one of 128 to 255, or 0 for any";
  return std::exchange(taken[index], true) ? "gex_index is taken: take another one, or 0 for any" : nullptr;
}

/// Memory for a payload that a rank sends to itself, as long as its handler runs.
class LoopbackBuffer {
 public:
  explicit LoopbackBuffer(std::size_t bytes) {
    if (bytes > sizeof small_) {
      large_ = std::make_unique_for_overwrite<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1);
    }
  }
  void* data() noexcept { return large_ ? static_cast<void*>(large_.get()) : small_; }

 private:
  alignas(std::max_align_t) std::byte small_[512];
  std::unique_ptr<std::max_align_t[]> large_;
};

const char* name_of(const Kind& kind) noexcept {
  if (kind.is_short) return kind.is_request ? "gex_AM_RequestShort" : "gex_AM_ReplyShort";
  if (kind.is_long) return kind.is_request ? "gex_AM_RequestLong" : "gex_AM_ReplyLong";
  return kind.is_request ? "gex_AM_RequestMedium" : "gex_AM_ReplyMedium";
}

}  // namespace

void loop_back(unsigned from, unsigned to, const Kind& kind, gex_AM_Index_t handler, const void* source,
               std::size_t bytes, void* dest, Words words) {
  if (source == nullptr && bytes != 0) fail(name_of(kind), "a null pointer to the payload");
#ifdef AQUEDUCT_CHECKED
  if (kind.is_request && in_handler()) fail(name_of(kind), "a handler of messages may reply only");
#endif
  aqg_token token;
  token.source = state().me();
  token.there = from;
  token.here = to;
  token.is_request = kind.is_request;
  token.is_long = kind.is_long;
  token.entry = &find_handler(token.source, to, handler, kind, words.size());
  Thread& here = thread();
  ++here.in_loopback;
  if (kind.is_short) {
    run(token, true, nullptr, 0, words);
  } else if (kind.is_long) {
    if (bytes != 0) {
      check_own_place(name_of(kind), {state().me(), from, to}, dest, bytes);
      std::memmove(dest, source, bytes);
    }
    run(token, false, dest, bytes, words);
  } else {
    LoopbackBuffer buffer(bytes);
    if (bytes != 0) std::memcpy(buffer.data(), source, bytes);
    run(token, false, buffer.data(), bytes, words);
  }
  --here.in_loopback;
}

bool add_handler(aqg_endpoint& ep, gex_AM_Entry_t& entry, bool any_args) {
  const std::lock_guard lock(registering());
  return add_to(ep, entry, any_args);
}

Status add_raw_handlers(HandlerSpace& space) {
  for (unsigned number = GEX_AM_INDEX_BASE; number < 256; ++number) {
    if (Status status = space.add(static_cast<std::uint8_t>(number), &arrived, nullptr); !status)
      return status;
  }
  return {};
}

}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t* table, size_t numentries) {
  const char* const call = "gex_EP_RegisterHandlers";
  if (ep == nullptr || (table == nullptr && numentries != 0))
    return error(GASNET_ERR_BAD_ARG, call, "no endpoint, or no table");
  const std::lock_guard lock(registering());
  // What is wrong comes before what is done: a client may call again with the same table.
  std::array<bool, 256> taken = ep->known;
  for (std::size_t i = 0; i < numentries; ++i) {
    if (const char* const fault = fault_of(table[i], taken)) {
      char text[200];
      std::snprintf(text, sizeof text, "entry %zu (gex_index %u): %s", i,
                    static_cast<unsigned>(table[i].gex_index), fault);
      return error(GASNET_ERR_BAD_ARG, call, text);
    }
  }
  const auto unnamed = std::count_if(table, table + numentries,
                                     [](const gex_AM_Entry_t& entry) { return entry.gex_index == 0; });
  if (unnamed > std::count(taken.begin() + GEX_AM_INDEX_BASE, taken.end(), false))
    return error(GASNET_ERR_BAD_ARG, call, "an endpoint has 128 handlers at most, and these are more");
  for (const bool free_numbers : {false, true}) {  // the fixed ones first
    for (std::size_t i = 0; i < numentries; ++i) {
      if ((table[i].gex_index == 0) == free_numbers) static_cast<void>(add_to(*ep, table[i], false));
    }
  }
  return GASNET_OK;
}

gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t* info, gex_TI_t) {
  info->gex_srcrank = token->source;
  info->gex_ep = state().endpoints[token->here].get();
  info->gex_entry = token->entry;
  info->gex_is_req = token->is_request ? 1 : 0;
  info->gex_is_long = token->is_long ? 1 : 0;
  return GEX_TI_ALL;
}
}
