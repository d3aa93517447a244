#include "c/messages.hpp"

using namespace aqueduct;

static_assert(sizeof(HandlerSpace) == sizeof(aq_space) && std::is_trivially_copyable_v<HandlerSpace>);

aq_status aq_space_create(aq_endpoint* ep, const char* name, aq_space* space) {
  if (ep == nullptr || space == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_space_create", {{"ep", ep}, {"space", space}}));
  if (name == nullptr) return c::plain(ErrorCode::invalid_argument);
  const auto made = HandlerSpace::create(c::whole(ep), name);
  if (made) *space = std::bit_cast<aq_space>(*made);
  return c::plain(made.status());
}

aq_status aq_space_add(const aq_space* space, uint8_t number, aq_handler handler, void* context,
                       const aq_accepts* accepts) {
  if (space == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_space_add", {{"space", space}}));
  if (handler == nullptr) return c::plain(ErrorCode::invalid_argument);
  RawAccepts taken;
  HandlerOptions options;
  if (accepts != nullptr) {
    if ((accepts->flags & ~AQ_PARALLEL) != 0) return c::plain(ErrorCode::invalid_argument);
    taken = {accepts->categories, accepts->least_words, accepts->most_words};
    options.parallel = (accepts->flags & AQ_PARALLEL) != 0;
  }
  HandlerSpace whole = c::whole(space);
  return c::plain(whole.add(
      number,
      [=](RawContext& message) {
        aq_incoming incoming{};
        incoming.message = static_cast<RequestContext*>(&message);
        incoming.source = message.source();
        incoming.category = static_cast<std::uint8_t>(message.category());
        incoming.is_raw = 1;
        incoming.number = message.number();
        incoming.tag = message.tag();
        incoming.count = static_cast<std::uint16_t>(message.words().size());
        incoming.words = message.words().data();
        incoming.payload = message.payload().data();
        incoming.bytes = message.payload().size();
        handler(context, &incoming);
      },
      taken, options));
}
aq_status aq_space_remove(const aq_space* space, uint8_t number) {
  if (space == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_space_remove", {{"space", space}}));
  HandlerSpace whole = c::whole(space);
  return c::plain(whole.remove(number));
}
bool aq_space_has(const aq_space* space, uint8_t number) {
  if (space == nullptr) [[unlikely]]
    return {};
  return c::whole(space).has(number);
}

aq_status aq_raw_request_short(const aq_space* space, uint32_t to, const aq_call* call,
                               const aq_options* options) {
  if (space == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_raw_request_short",
                                   {{"space", space}, {"call", call}, c::words_argument(call)}));
  return c::status_of(options, [&](c::CallOptions& chosen) {
    return c::whole(space).request_short(to, c::raw_of(*call), chosen.am());
  });
}
aq_status aq_raw_request_medium(const aq_space* space, uint32_t to, const aq_call* call, const void* payload,
                                size_t bytes, const aq_options* options) {
  if (space == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_raw_request_medium",
                                   {{"space", space}, {"call", call}, c::words_argument(call)}));
  return c::status_of(options, [&](c::CallOptions& chosen) {
    return c::whole(space).request_medium(to, c::raw_of(*call), c::source(payload, bytes), chosen.am());
  });
}
aq_status aq_raw_request_long(const aq_space* space, aq_ptr to, const aq_call* call, const void* payload,
                              size_t bytes, const aq_options* options) {
  if (space == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_raw_request_long",
                                   {{"space", space}, {"call", call}, c::words_argument(call)}));
  return c::status_of(options, [&](c::CallOptions& chosen) {
    return c::whole(space).request_long(c::raw_of(*call), c::source(payload, bytes), c::whole(to),
                                        chosen.am());
  });
}
