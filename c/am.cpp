#include "c/messages.hpp"

using namespace aqueduct;

namespace aqueduct::c {
namespace {

/// Answers a request: `plain` replies in the plain form, `raw` in the raw one.
template <class Plain, class Raw>
aq_status answer(const aq_incoming* incoming, Plain plain_form, Raw raw_form) noexcept {
  if (request_of(incoming) == nullptr) return plain(ErrorCode::invalid_argument);
  return plain(incoming->is_raw != 0 ? raw_form(*raw_request_of(incoming))
                                     : plain_form(*request_of(incoming)));
}

aq_status add_handler(aq_endpoint* ep, int category, size_t words, aq_handler handler, void* context,
                      uint16_t* id, const HandlerOptions& options) noexcept {
  if (handler == nullptr || category < AQ_SHORT_REQUEST || category > AQ_LONG_REPLY)
    return plain(ErrorCode::invalid_argument);
  return guarded([&]() -> Status {
    auto run = [=](RequestContext& message, std::span<const std::uint32_t> args,
                   std::span<std::byte> payload) {
      aq_incoming incoming{};
      incoming.message = &message;
      incoming.source = message.source();
      incoming.category = static_cast<std::uint8_t>(category);
      incoming.count = static_cast<std::uint16_t>(args.size());
      incoming.words = args.data();
      incoming.payload = payload.data();
      incoming.bytes = payload.size();
      handler(context, &incoming);
    };
    const auto made = register_plain(whole(ep), static_cast<AmCategory>(category), words, run, options);
    if (made) *id = *made;
    return made.status();
  });
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_register(aq_endpoint* ep, int category, size_t words, aq_handler handler, void* context,
                      uint16_t* id) {
  if (ep == nullptr || id == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_register", {{"ep", ep}, {"id", id}}));
  return c::add_handler(ep, category, words, handler, context, id, {});
}
aq_status aq_register_parallel(aq_endpoint* ep, int category, size_t words, aq_handler handler, void* context,
                               uint16_t* id) {
  if (ep == nullptr || id == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_register_parallel", {{"ep", ep}, {"id", id}}));
  return c::add_handler(ep, category, words, handler, context, id, {.parallel = true});
}

aq_status aq_request_short(aq_endpoint* ep, uint32_t to, const aq_call* call, const aq_options* options) {
  if (ep == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(
        c::refuse_null(ep, "aq_request_short", {{"ep", ep}, {"call", call}, c::words_argument(call)}));
  return c::status_of(options, [&](c::CallOptions& chosen) {
    return request_plain(c::whole(ep), to, AmCategory::short_request, call->handler, c::words_of(*call), {},
                         {}, chosen.am());
  });
}
aq_status aq_request_medium(aq_endpoint* ep, uint32_t to, const aq_call* call, const void* payload,
                            size_t bytes, const aq_options* options) {
  if (ep == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(
        c::refuse_null(ep, "aq_request_medium", {{"ep", ep}, {"call", call}, c::words_argument(call)}));
  return c::status_of(options, [&](c::CallOptions& chosen) {
    return request_plain(c::whole(ep), to, AmCategory::medium_request, call->handler, c::words_of(*call),
                         c::source(payload, bytes), {}, chosen.am());
  });
}
aq_status aq_request_long(aq_endpoint* ep, aq_ptr to, const aq_call* call, const void* payload, size_t bytes,
                          const aq_options* options) {
  if (ep == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(
        c::refuse_null(ep, "aq_request_long", {{"ep", ep}, {"call", call}, c::words_argument(call)}));
  return c::status_of(options, [&](c::CallOptions& chosen) {
    return request_plain(c::whole(ep), to.rank, AmCategory::long_request, call->handler, c::words_of(*call),
                         c::source(payload, bytes), c::whole(to), chosen.am());
  });
}

aq_status aq_reply_short(const aq_incoming* incoming, const aq_call* call) {
  if (incoming == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_reply_short",
                                   {{"incoming", incoming}, {"call", call}, c::words_argument(call)}));
  return c::answer(
      incoming,
      [&](RequestContext& request) {
        return request.reply_plain(AmCategory::short_reply, call->handler, c::words_of(*call));
      },
      [&](RawContext& request) { return request.reply_short(c::raw_of(*call)); });
}
aq_status aq_reply_medium(const aq_incoming* incoming, const aq_call* call, const void* payload,
                          size_t bytes) {
  if (incoming == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_reply_medium",
                                   {{"incoming", incoming}, {"call", call}, c::words_argument(call)}));
  return c::answer(
      incoming,
      [&](RequestContext& request) {
        return request.reply_plain(AmCategory::medium_reply, call->handler, c::words_of(*call),
                                   c::source(payload, bytes));
      },
      [&](RawContext& request) { return request.reply_medium(c::raw_of(*call), c::source(payload, bytes)); });
}
aq_status aq_reply_long(const aq_incoming* incoming, const aq_call* call, const void* payload, size_t bytes,
                        aq_ptr to) {
  if (incoming == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_reply_long",
                                   {{"incoming", incoming}, {"call", call}, c::words_argument(call)}));
  return c::answer(
      incoming,
      [&](RequestContext& request) {
        return request.reply_plain(AmCategory::long_reply, call->handler, c::words_of(*call),
                                   c::source(payload, bytes), c::whole(to));
      },
      [&](RawContext& request) {
        return request.reply_long(c::raw_of(*call), c::source(payload, bytes), c::whole(to));
      });
}

aq_am_limits aq_am_limits_of(aq_endpoint* ep, uint32_t peer) {
  if (c::lacks("aq_am_limits_of", {{"ep", ep}})) return {};
  const AmLimits limits = am_limits(c::whole(ep), peer);
  return {limits.arguments, limits.medium, limits.long_request, limits.long_reply};
}
