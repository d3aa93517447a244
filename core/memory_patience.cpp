#include "core/memory_patience.hpp"

#include "core/endpoint_state.hpp"

#include <utility>

namespace aqueduct::core {
namespace {

// Chosen: a look takes 1 to 2 us.
constexpr std::chrono::milliseconds kBetweenLooks{20};
// Chosen: waits try every 20 ms or more often. A rank that computes or is stopped between two attempts has not tried
// meanwhile.
constexpr std::chrono::seconds kSeldom{1};

}  // namespace

bool MemoryPatience::is_over(detail::EndpointState& state, Rank to, const Post& refused, bool in_flight,
                             Loss loss) noexcept {
  if (&state.conduit(to) == state.near.get()) return false;  // a post into shared memory needs no memory
  const auto now = state.clock.now();
  const bool was_away = now - std::exchange(tried_at_, now) > kSeldom;
  if (was_away) {  // or this is the first attempt
    looked_at_ = now;
    short_since_ = {};
    over_ = false;
  }
  if (now - looked_at_ < kBetweenLooks) return over_;
  looked_at_ = now;
  const bool told = refused.why == ErrorCode::no_memory;
  if (!told && gets_memory_()) {
    short_since_ = {};
    return over_ = false;
  }
  if (short_since_ == Clock::time_point{}) short_since_ = now;
  if (over_ || now - short_since_ < (in_flight ? kLimitInFlight : kLimit)) return over_;
  const double lasted = std::chrono::duration<double>(now - short_since_).count();
  const char* const why = told ? "this library or the network's finds no memory" : kNoMemory;
  if (loss == Loss::operation)
    state.log.error("an operation on rank {} has found no room for {:.1f} s, and {}: it ends with no_memory",
                    to, lasted, why);
  else
    state.log.error(
        "a reply to rank {}, its credits, or a message behind a put has found no room for {:.1f} s, and {}: "
        "the rank is taken for lost",
        to, lasted, why);
  return over_ = true;
}

}  // namespace aqueduct::core
