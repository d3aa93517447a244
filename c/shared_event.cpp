#include <aqueduct/shared_event.hpp>

#include "c/convert.hpp"

using namespace aqueduct;

namespace aqueduct::c {
namespace {

/// A SharedEvent for the time of a call: it is not a copy, and does not count as a holder.
template <class F>
auto with_shared(aq_shared_event event, F body) noexcept {
  SharedEvent whole = SharedEvent::adopt(event.word);
  const auto result = body(whole);
  static_cast<void>(whole.release());
  return result;
}

}  // namespace
}  // namespace aqueduct::c

aq_shared_event aq_share(aq_event* event) {
  if (c::lacks("aq_share", {{"event", event}})) return {nullptr};
  Event whole = Event::adopt(std::exchange(event->word, nullptr));
  return {share(std::move(whole)).release()};
}
aq_shared_event aq_shared_copy(aq_shared_event event) {
  return c::with_shared(event, [](const SharedEvent& whole) {
    SharedEvent copy(whole);
    return aq_shared_event{copy.release()};
  });
}
void aq_shared_drop(aq_shared_event* event) {
  if (c::lacks("aq_shared_drop", {{"event", event}})) return;
  static_cast<void>(SharedEvent::adopt(std::exchange(event->word, nullptr)));
}
bool aq_shared_test(aq_endpoint* ep, const aq_shared_event* event) {
  if (c::lacks("aq_shared_test", {{"ep", ep}, {"event", event}})) return true;
  return c::with_shared(*event, [&](const SharedEvent& whole) { return whole.test(c::whole(ep)); });
}
aq_status aq_shared_wait(aq_endpoint* ep, const aq_shared_event* event, int64_t limit) {
  if (c::lacks("aq_shared_wait", {{"ep", ep}, {"event", event}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::with_shared(
      *event, [&](const SharedEvent& whole) { return whole.wait_for(c::whole(ep), c::limit_of(limit)); }));
}
