#include "core/refuse.hpp"

#include "core/signals.hpp"

namespace aqueduct::core {

Status refuse_place(EndpointState& state, GlobalPtr<std::byte> at, std::uint64_t bytes, Status why) noexcept {
  const Rank rank = at.rank();
  const SegmentId segment = at.segment();
  if (why.code() != ErrorCode::out_of_range) return why;
  if (rank >= state.ranks) {
    static_cast<void>(refuse_rank(state, rank));
  } else if (segment == kSignalSegment) {
    state.log.error(
        "signal slot {} of rank {}: each rank has {} slots. Raise AQUEDUCT_SIGNALS, or signal by a "
        "SignalWord",
        at.offset() / sizeof(std::uint64_t), rank, signal_slots(state));
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
  state.log.error(
      "an atomic on rank {}, segment {}, offset {}: its address there, {:#x}, is not a multiple of {} bytes",
      at.rank(), at.segment(), at.offset(), state.segments.base_of(at.segment(), at.rank()) + at.offset(),
      bytes);
  return {ErrorCode::misaligned, at.rank()};
}

Status refuse_rank(EndpointState& state, Rank to) noexcept {
  const Status why = state.refusal();
  if (why.code() == ErrorCode::out_of_range)
    state.log.error("an operation with rank {}: the job has the ranks 0 to {}", to, state.ranks - 1);
  return why;
}

}  // namespace aqueduct::core
