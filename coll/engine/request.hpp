#pragma once

#include <aqueduct/coll_types.hpp>
#include <aqueduct/global_ptr.hpp>

#include "coll/engine/call_description.hpp"
#include "coll/schedule/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace aqueduct::coll {

/// A buffer of an operation on this member, and if all members know all places, where it is on each of them.
struct Buffer {
  std::byte* mine = nullptr;  ///< null: this member has none
  enum class Known : std::uint8_t { here, common, each } known = Known::here;
  SegmentId segment = 0;     ///< of `common`
  std::uint64_t offset = 0;  ///< likewise
  /// Of `each`: an array of GlobalPtr, in team order, read by memcpy, since the pointers' element type is not known here.
  const std::byte* each = nullptr;

  /// Requires: `known` is not `here`. `rank`: the job's rank of the member at `position`.
  GlobalPtr<std::byte> of(Rank position, Rank rank) const noexcept {
    if (known == Known::common) return {rank, offset, segment};
    GlobalPtr<std::byte> place;
    std::memcpy(static_cast<void*>(&place), each + position * sizeof place, sizeof place);
    return place;
  }
};

/// How elements are combined. With `widen`, the elements of the user's buffers are converted first, and the schedule
/// moves and combines the wide ones.
struct Combiner {
  CombineFunction combine = nullptr;  ///< null: the operation combines nothing
  void* context = nullptr;
  void (*widen)(void* to, const void* from, std::size_t count) = nullptr;
  void (*narrow)(void* to, const void* from, std::size_t count) = nullptr;
  std::uint32_t wide_element = 0;  ///< bytes; 0: not converted
};

/// A collective call whose arguments have been checked.
struct Request {
  Shape shape;  ///< without parameters; `pitch` is `bytes`. Of the user's elements, not of the wide ones
  Buffer in;    ///< in place, where the schedule expects it: see checked_request
  Buffer out;
  Combiner combiner;
  CallDescription description;
};

}  // namespace aqueduct::coll
