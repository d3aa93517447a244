#include "core/refuse.hpp"

#include <aqueduct/null_argument.hpp>

#include "core/signals.hpp"

namespace aqueduct::core {

bool names_refusal(EndpointState& state) noexcept {
  constexpr std::uint32_t kMost = 64;  // chosen
  if (state.refusals_named.load(std::memory_order_relaxed) > kMost) return false;
  const std::uint32_t before = state.refusals_named.fetch_add(1, std::memory_order_relaxed);
  if (before == kMost) state.log.error("more than {} calls were refused: further ones are not named", kMost);
  return before < kMost;
}

Status refuse_place(EndpointState& state, GlobalPtr<std::byte> at, std::uint64_t bytes, Status why) noexcept {
  const Rank rank = at.rank();
  const SegmentId segment = at.segment();
  if (why.code() != ErrorCode::out_of_range) return why;
  if (rank < state.ranks && !names_refusal(state)) return why;
  if (rank >= state.ranks) {
    static_cast<void>(refuse_rank(state, rank));
  } else if (segment == kSignalSegment) {
    state.log.error(
        "signal slot {} of rank {}: that rank has {} slots. Raise AQUEDUCT_SIGNALS there, or signal by a "
        "SignalWord",
        at.offset() / sizeof(std::uint64_t), rank, hidden_layout_of(state, rank).user_slots);
  } else if (!state.segments.check({rank, 0, segment}, 0)) {
    state.log.error(
        "an operation with rank {}, segment {}: there is no such segment, or the rank is not in the team "
        "that made it",
        rank, segment);
  } else {
    state.log.error(
        "an operation with rank {}, segment {}: {} bytes at offset {} are not inside the rank's part, which "
        "has {} bytes. Offsets are in bytes",
        rank, segment, bytes, static_cast<std::int64_t>(at.offset()), state.segments.bytes_of(segment, rank));
  }
  return why;
}

Status refuse_alignment(EndpointState& state, GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept {
  const Status why{ErrorCode::misaligned, at.rank()};
  if (!names_refusal(state)) return why;
  state.log.error(
      "an atomic on rank {}, segment {}, offset {}: its address there, {:#x}, is not a multiple of {} bytes",
      at.rank(), at.segment(), at.offset(), state.segments.base_of(at.segment(), at.rank()) + at.offset(),
      bytes);
  return why;
}

Status refuse_rank(EndpointState& state, Rank to) noexcept {
  const Status why = state.refusal();
  if (why.code() == ErrorCode::out_of_range && names_refusal(state))
    state.log.error("an operation with rank {}: the job has the ranks 0 to {}", to, state.ranks - 1);
  return why;
}

Status refuse_without_records(EndpointState& state, Rank peer) noexcept {
  if (names_refusal(state))
    state.log.error(
        "an operation on rank {} ends with no_memory: the system refuses the memory for the first records of "
        "operations (mprotect). Look at the limits of this process, `ulimit -d -v`, and at its sandbox",
        peer);
  return {ErrorCode::no_memory, peer};
}

Status refuse_order(EndpointState& state, const char* why) noexcept {
  if (names_refusal(state)) state.log.error("{}", why);
  return ErrorCode::invalid_argument;
}

}  // namespace aqueduct::core

aqueduct::Status aqueduct::detail::refuse_null(Endpoint& ep, const char* call,
                                               const char* argument) noexcept {
  if (core::names_refusal(ep.state()))
    ep.state().log.error("{}: `{}` is null. The call needs it, and has done nothing", call, argument);
  return ErrorCode::invalid_argument;
}
