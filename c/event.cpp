#include "c/convert.hpp"

using namespace aqueduct;

aq_status aq_wait_slowly(aq_endpoint* ep, aq_event* event) {
  if (ep == nullptr || event == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_wait", {{"ep", ep}, {"event", event}}));
  return c::plain(c::with_event(event, [&](Event& whole) { return c::whole(ep).wait(whole); }));
}
aq_status aq_wait_for(aq_endpoint* ep, aq_event* event, int64_t limit) {
  if (ep == nullptr || event == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_wait_for", {{"ep", ep}, {"event", event}}));
  return c::plain(
      c::with_event(event, [&](Event& whole) { return c::whole(ep).wait_for(whole, c::limit_of(limit)); }));
}
aq_status aq_wait_all(aq_endpoint* ep, aq_event* events, size_t count) {
  if (ep == nullptr || (events == nullptr && count != 0)) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_wait_all", {{"ep", ep}, {"events", events}}));
  aq_status first = aq_success();
  for (std::size_t i = 0; i < count; ++i) {
    const aq_status status = aq_wait(ep, &events[i]);
    if (aq_ok(first)) first = status;
  }
  return first;
}
aq_status aq_wait_any(aq_endpoint* ep, const aq_event* events, size_t count, int64_t limit, size_t* index) {
  if (count == 0) return c::plain(ErrorCode::invalid_argument);
  if (ep == nullptr || events == nullptr || index == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_wait_any", {{"ep", ep}, {"events", events}, {"index", index}}));
  const auto one_is_done = [&]() noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (aq_done(&events[i])) {
        *index = i;
        return true;
      }
    }
    return false;
  };
  return c::plain(c::whole(ep).wait_until(one_is_done, c::limit_of(limit)));
}

aq_status aq_then(aq_endpoint* ep, aq_event* event, aq_continuation run, void* context) {
  if (ep == nullptr || event == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_then", {{"ep", ep}, {"event", event}}));
  if (run == nullptr) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::with_event(event, [&](Event& whole) {
    return whole.then(c::whole(ep), [run, context](Status outcome) { run(context, c::plain(outcome)); });
  }));
}

aq_status aq_wait_implicit(aq_endpoint* ep) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_wait_implicit", {{"ep", ep}}));
  return c::plain(c::whole(ep).wait_implicit());
}
bool aq_test_implicit(aq_endpoint* ep) {
  if (ep == nullptr) [[unlikely]]
    return {};
  return c::whole(ep).test_implicit();
}
aq_status aq_begin_region(aq_endpoint* ep) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_begin_region", {{"ep", ep}}));
  return c::plain(c::whole(ep).begin_region());
}
aq_event aq_end_region(aq_endpoint* ep) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(Event(c::refuse_null(ep, "aq_end_region", {{"ep", ep}})));
  return c::plain(c::whole(ep).end_region());
}
