#include "c/convert.hpp"

using namespace aqueduct;

namespace aqueduct::c {
namespace {

/// Null for an operation that does not exist.
const SignalWord* signal_word(SignalWord& word, aq_ptr at, std::uint64_t value, int op) noexcept {
  word = {whole(at).as<std::uint64_t>(), value, static_cast<SignalOp>(op)};
  return op == AQ_SIGNAL_ADD || op == AQ_SIGNAL_SET ? &word : nullptr;
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_signal(aq_endpoint* ep, uint32_t to, uint32_t slot, uint64_t add) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_signal", {{"ep", ep}}));
  return c::plain(signal(c::whole(ep), to, {slot, add}));
}
aq_event aq_signal_nb(aq_endpoint* ep, uint32_t to, uint32_t slot, uint64_t add) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(Event(c::refuse_null(ep, "aq_signal_nb", {{"ep", ep}})));
  return c::plain(signal_nb(c::whole(ep), to, {slot, add}));
}

aq_status aq_put_signal(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, uint32_t slot,
                        uint64_t add) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_put_signal", {{"ep", ep}}));
  return c::plain(put_signal(c::whole(ep), c::whole(to), c::source(from, bytes), Signal{slot, add}));
}
aq_event aq_put_signal_nb(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, uint32_t slot,
                          uint64_t add, const aq_options* options) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(Event(c::refuse_null(ep, "aq_put_signal_nb", {{"ep", ep}})));
  return c::event_of(options, [&](c::CallOptions& call) {
    return put_signal_nb(c::whole(ep), c::whole(to), c::source(from, bytes), Signal{slot, add}, call.put());
  });
}
aq_status aq_put_signal_nbi(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, uint32_t slot,
                            uint64_t add, const aq_options* options) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_put_signal_nbi", {{"ep", ep}}));
  return c::status_of(options, [&](c::CallOptions& call) {
    return put_signal_nbi(c::whole(ep), c::whole(to), c::source(from, bytes), Signal{slot, add}, call.put());
  });
}

aq_status aq_put_signal_word(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, aq_ptr word,
                             uint64_t value, int op) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_put_signal_word", {{"ep", ep}}));
  aq_event event = aq_put_signal_word_nb(ep, to, from, bytes, word, value, op, nullptr);
  return c::plain(c::whole(ep).wait(Event::adopt(event.word)));
}
aq_event aq_put_signal_word_nb(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, aq_ptr word,
                               uint64_t value, int op, const aq_options* options) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(Event(c::refuse_null(ep, "aq_put_signal_word_nb", {{"ep", ep}})));
  return c::event_of(options, [&](c::CallOptions& call) {
    SignalWord what;
    if (c::signal_word(what, word, value, op) == nullptr)
      return Event(Status(ErrorCode::invalid_argument, to.rank));
    return put_signal_nb(c::whole(ep), c::whole(to), c::source(from, bytes), what, call.put());
  });
}
aq_status aq_put_signal_word_nbi(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, aq_ptr word,
                                 uint64_t value, int op, const aq_options* options) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_put_signal_word_nbi", {{"ep", ep}}));
  return c::status_of(options, [&](c::CallOptions& call) {
    SignalWord what;
    if (c::signal_word(what, word, value, op) == nullptr) return Status(ErrorCode::invalid_argument, to.rank);
    return put_signal_nbi(c::whole(ep), c::whole(to), c::source(from, bytes), what, call.put());
  });
}

uint64_t aq_signal_value(aq_endpoint* ep, uint32_t slot) {
  return ep != nullptr ? signal_value(c::whole(ep), slot) : 0;
}
aq_status aq_reset_signal(aq_endpoint* ep, uint32_t slot, uint64_t value) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_reset_signal", {{"ep", ep}}));
  return c::plain(reset_signal(c::whole(ep), slot, value));
}
bool aq_test_signal(aq_endpoint* ep, uint32_t slot, uint64_t at_least) {
  if (ep == nullptr) [[unlikely]]
    return {};
  return test_until(c::whole(ep), slot, at_least);
}
aq_status aq_wait_signal(aq_endpoint* ep, uint32_t slot, uint64_t at_least, uint32_t from, int64_t limit) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_wait_signal", {{"ep", ep}}));
  return c::plain(wait_until(c::whole(ep), slot, at_least, from, c::limit_of(limit)));
}
