#include "core/condition_wait.hpp"

#include "core/entry.hpp"

namespace aqueduct {

namespace core {

Rank first_lost(const EndpointState& state, Rank from) noexcept {
  if (from < state.ranks) return state.lost[from] ? from : kNoRank;
  if (from != kAnyRank) return kNoRank;
  for (Rank rank = 0; rank < state.ranks; ++rank) {
    if (state.lost[rank]) return rank;
  }
  return kNoRank;
}

}  // namespace core

Status Endpoint::wait_until_true(bool (*predicate)(const void*) noexcept, const void* what,
                                 std::chrono::nanoseconds limit, Rank from) noexcept {
  core::Entry entry(*state_);
  return core::wait_for_condition(
      *state_, [=] { return predicate(what); }, from,
      [] { return std::string("a condition of the program (wait_until)"); }, limit);
}

Status Endpoint::progress_for(std::chrono::nanoseconds limit) noexcept {
  core::Entry entry(*state_);
  detail::EndpointState& state = *state_;
  const std::uint64_t arrivals = state.arrivals;
  const Rank lost = state.lost_count;
  return core::wait_until(
      state, [&] { return state.arrivals != arrivals || state.lost_count != lost; }, kNoRank,
      [] { return std::string("an arrival (progress_for)"); }, limit);
}

}  // namespace aqueduct
