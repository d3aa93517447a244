#include "c/convert.hpp"

using namespace aqueduct;

namespace aqueduct::c {
namespace {

bool is_comparison(int how) noexcept { return how >= AQ_EQUAL && how <= AQ_GREATER_EQUAL; }

template <class T>
aq_status wait_on_plain(const char* call, aq_endpoint* ep, aq_ptr word, int how, T value, std::int64_t limit,
                        std::uint32_t from) noexcept {
  if (!is_comparison(how) || lacks(call, {{"ep", ep}})) return plain(ErrorCode::invalid_argument);
  return plain(
      wait_on(whole(ep), whole(word).as<T>(), static_cast<Comparison>(how), value, limit_of(limit), from));
}
template <class T>
aq_status test_on_plain(const char* call, aq_endpoint* ep, aq_ptr word, int how, T value,
                        bool* holds) noexcept {
  if (!is_comparison(how) || lacks(call, {{"ep", ep}, {"holds", holds}}))
    return plain(ErrorCode::invalid_argument);
  const Result<bool> tested = test_on(whole(ep), whole(word).as<T>(), static_cast<Comparison>(how), value);
  if (tested) *holds = *tested;
  return plain(tested.status());
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_wait_until(aq_endpoint* ep, bool (*predicate)(void* context), void* context, int64_t limit,
                        uint32_t from) {
  if (c::lacks("aq_wait_until", {{"ep", ep}})) return c::plain(ErrorCode::invalid_argument);
  if (predicate == nullptr) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole(ep).wait_until([=] { return predicate(context); }, c::limit_of(limit), from));
}
aq_status aq_progress_for(aq_endpoint* ep, int64_t limit) {
  if (c::lacks("aq_progress_for", {{"ep", ep}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole(ep).progress_for(c::limit_of(limit)));
}

#define AQ_DEFINE_WAITS(T, type)                                                             \
  aq_status aq_wait_on_##type(aq_endpoint* ep, aq_ptr word, int how, T value, int64_t limit, \
                              uint32_t from) {                                               \
    return c::wait_on_plain<T>("aq_wait_on_" #type, ep, word, how, value, limit, from);      \
  }                                                                                          \
  aq_status aq_test_on_##type(aq_endpoint* ep, aq_ptr word, int how, T value, bool* holds) { \
    return c::test_on_plain<T>("aq_test_on_" #type, ep, word, how, value, holds);            \
  }
AQ_DEFINE_WAITS(std::int32_t, i32)
AQ_DEFINE_WAITS(std::uint32_t, u32)
AQ_DEFINE_WAITS(std::int64_t, i64)
AQ_DEFINE_WAITS(std::uint64_t, u64)
#undef AQ_DEFINE_WAITS
