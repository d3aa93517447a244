#include "c/convert.hpp"

#include <array>

using namespace aqueduct;

void aq_copy_more(void* to, const void* from, size_t bytes) {
  detail::copy_middling(static_cast<std::byte*>(to), from, bytes);
}
void aq_write_more(void* to, const void* from, size_t bytes) {
  detail::put_middling(static_cast<std::byte*>(to), from, bytes);
}

// The C++ calls look for null memory only if the target is not mapped here, or the build is checked.

aq_status aq_put_slowly(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_put", {{"ep", ep}}));
  if (detail::is_missing(from, bytes))
    return c::plain(detail::put_over_wire(c::whole(ep), to.rank, to.segment, to.offset, from, bytes));
  return c::plain(put(c::whole(ep), c::whole(to), c::source(from, bytes)));
}
aq_event aq_put_nb_slowly(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes,
                          const aq_options* options) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(Event(c::refuse_null(ep, "aq_put_nb", {{"ep", ep}})));
  return c::event_of(options, [&](c::CallOptions& call) {
    if (detail::is_missing(from, bytes))
      return detail::put_nb_over_wire(c::whole(ep), to.rank, to.segment, to.offset, from, bytes, call.put());
    return put_nb(c::whole(ep), c::whole(to), c::source(from, bytes), call.put());
  });
}
aq_status aq_put_nbi_slowly(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes,
                            const aq_options* options) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_put_nbi", {{"ep", ep}}));
  return c::status_of(options, [&](c::CallOptions& call) {
    if (detail::is_missing(from, bytes))
      return detail::put_nbi_over_wire(c::whole(ep), to.rank, to.segment, to.offset, from, bytes, call.put());
    return put_nbi(c::whole(ep), c::whole(to), c::source(from, bytes), call.put());
  });
}
aq_status aq_get_slowly(aq_endpoint* ep, void* to, aq_ptr from, size_t bytes) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_get", {{"ep", ep}}));
  if (detail::is_missing(to, bytes))
    return c::plain(detail::get_over_wire(c::whole(ep), from.rank, from.segment, from.offset, to, bytes));
  return c::plain(get(c::whole(ep), c::target(to, bytes), c::whole(from)));
}
aq_event aq_get_nb_slowly(aq_endpoint* ep, void* to, aq_ptr from, size_t bytes, const aq_options* options) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(Event(c::refuse_null(ep, "aq_get_nb", {{"ep", ep}})));
  return c::event_of(options, [&](c::CallOptions& call) {
    if (detail::is_missing(to, bytes))
      return detail::get_nb_over_wire(c::whole(ep), from.rank, from.segment, from.offset, to, bytes,
                                      call.get());
    return get_nb(c::whole(ep), c::target(to, bytes), c::whole(from), call.get());
  });
}
aq_status aq_get_nbi_slowly(aq_endpoint* ep, void* to, aq_ptr from, size_t bytes, const aq_options* options) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_get_nbi", {{"ep", ep}}));
  return c::status_of(options, [&](c::CallOptions& call) {
    if (detail::is_missing(to, bytes))
      return detail::get_nbi_over_wire(c::whole(ep), from.rank, from.segment, from.offset, to, bytes,
                                       call.get());
    return get_nbi(c::whole(ep), c::target(to, bytes), c::whole(from), call.get());
  });
}

aq_status aq_put_u128(aq_endpoint* ep, aq_ptr to, const uint64_t value[2]) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_put_u128", {{"ep", ep}}));
  using Pair = std::array<std::uint64_t, 2>;
  if (value == nullptr) return aq_put_slowly(ep, to, nullptr, sizeof(Pair));
  return c::plain(put_value(c::whole(ep), c::whole(to).as<Pair>(), Pair{value[0], value[1]}));
}
aq_status aq_get_u128(aq_endpoint* ep, aq_ptr from, uint64_t value[2]) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_get_u128", {{"ep", ep}}));
  if (value == nullptr) return aq_get_slowly(ep, nullptr, from, 2 * sizeof *value);
  const auto got = get_value(c::whole(ep), c::whole(from).as<std::array<std::uint64_t, 2>>());
  if (got) {
    value[0] = (*got)[0];
    value[1] = (*got)[1];
  }
  return c::plain(got.status());
}

aq_status aq_copy(aq_endpoint* ep, aq_ptr to, aq_ptr from, size_t bytes) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_copy", {{"ep", ep}}));
  return c::plain(copy(c::whole(ep), c::whole(to), c::whole(from), bytes));
}

aq_status aq_fence(aq_endpoint* ep, uint32_t peer) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_fence", {{"ep", ep}}));
  return c::plain(peer == AQ_ANY_RANK ? fence(c::whole(ep)) : fence(c::whole(ep), peer));
}
