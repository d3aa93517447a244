#include "coll/engine/checked_buffers.hpp"

#include "coll/engine/refusal_text.hpp"
#include "core/signals.hpp"

#include <functional>

namespace aqueduct::coll {

using aqueduct::detail::CollBuffer;
using aqueduct::detail::CollCall;
using aqueduct::detail::TeamState;

namespace {

/// What an empty buffer without an address gets as its address.
constinit std::byte no_bytes{};

/// One buffer of a call, and what the operation wants of it.
struct Wanted {
  const char* name;
  const CollBuffer& given;
  Rank (*blocks)(const Shape&, Rank);
  Rank mine;  ///< blocks of this member

  /// The member whose place must be there: this one, or if it has no block, the root.
  Rank owner(const Shape& shape, Rank me) const noexcept { return mine != 0 ? me : shape.root; }
};

bool works_in_place(Collective operation) noexcept {
  return operation == Collective::broadcast || operation == Collective::all_gather ||
         operation == Collective::all_reduce || operation == Collective::scan ||
         operation == Collective::exscan;
}

Status check_kinds(const CollCall& call, const Wanted& in, const Wanted& out, std::string& why) noexcept {
  for (const Wanted* buffer : {&in, &out}) {
    if (buffer->given.where > CollBuffer::Where::each)
      return refusal(why, "{} is a buffer of kind {}, which does not exist: use one of enum aq_buffer_kind",
                     buffer->name, static_cast<unsigned>(buffer->given.where));
  }
  const bool known = is_known(call.in) || is_known(call.out);
  const auto missing = [&](const Wanted& buffer) {
    return buffer.given.where == CollBuffer::Where::nowhere && (buffer.mine != 0 || known);
  };
  if (missing(out)) return refusal(why, "out is missing: pass a buffer");
  if (missing(in) && !works_in_place(call.operation))
    return refusal(why, "in is missing: pass a buffer, since this operation has no form in place");
  const bool both =
      call.in.where != CollBuffer::Where::nowhere && call.out.where != CollBuffer::Where::nowhere;
  if (both && is_known(call.in) != is_known(call.out))
    return refusal(why, "{} is a place on all members and {} is memory of this one: pass two of a kind",
                   is_known(call.in) ? "in" : "out", is_known(call.in) ? "out" : "in");
  return {};
}

/// A buffer that all members know has the length that it has at its owner, also where it is not used.
Status check_length(const Shape& shape, Rank me, const Wanted& buffer, std::string& why) noexcept {
  if (buffer.mine == 0 && !is_known(buffer.given)) return {};
  const Rank blocks = buffer.blocks(shape, buffer.owner(shape, me));
  const std::uint64_t needed = blocks * shape.bytes;
  if (buffer.given.bytes == needed) return {};
  if (buffer.mine == 0)
    return refusal(why, "{} has {} bytes, and at the root it has {}: pass the same places on all members",
                   buffer.name, buffer.given.bytes, needed);
  if (blocks == 1)
    return refusal(why, "{} has {} bytes, but a block has {}: pass as many elements as a block has",
                   buffer.name, buffer.given.bytes, needed);
  return refusal(why, "{} has {} bytes, but needs {}: a block of {} bytes for each of {} members",
                 buffer.name, buffer.given.bytes, needed, shape.bytes, blocks);
}

Status find_memory(const Wanted& wanted, Buffer& found, std::string& why) noexcept {
  if (wanted.mine == 0) return {};
  const auto first = reinterpret_cast<std::uintptr_t>(wanted.given.memory);
  if (wanted.given.bytes == 0) {
    found.mine = first != 0 ? static_cast<std::byte*>(wanted.given.memory) : &no_bytes;
    return {};
  }
  if (first == 0)
    return refusal(why, "{} is a null pointer and has {} bytes: pass memory, or no elements", wanted.name,
                   wanted.given.bytes);
  if (wanted.given.bytes > UINTPTR_MAX - first)
    return refusal(why, "{} has {} bytes, which go beyond the last address: check its count", wanted.name,
                   wanted.given.bytes);
  found.mine = static_cast<std::byte*>(wanted.given.memory);
  return {};
}

Status check_place(TeamState& team, Rank position, GlobalPtr<std::byte> place, const Wanted& wanted,
                   std::string& why) noexcept {
  if (place.segment() == core::kSignalSegment)
    return refusal_as(
        ErrorCode::out_of_range, why,
        "{} is in segment {}, which is the library's own: pass a place in a segment of the program",
        wanted.name, place.segment());
  core::SegmentTable& segments = team.endpoint.segments;
  const auto part = segments.check(place, wanted.given.bytes);
  if (part) return {};
  const Status status = part.status().code();
  if (status.code() == ErrorCode::closed)
    return refusal_as(status, why, "{} is in segment {}, which was released", wanted.name, place.segment());
  return refusal_as(status, why,
                    "{} has {} bytes from byte {} of segment {}, but the part of member {} (rank {}) has {}: "
                    "pass a place inside it",
                    wanted.name, wanted.given.bytes, place.offset(), place.segment(), position, place.rank(),
                    segments.bytes_of(place.segment(), place.rank()));
}

/// Other members' places are checked only if they are listed. In a common place each member sees to its own part.
Status find_place(TeamState& team, const Shape& shape, const Wanted& wanted, Buffer& found,
                  std::string& why) noexcept {
  const CollBuffer& given = wanted.given;
  const bool listed = given.where == CollBuffer::Where::each;
  found.known = listed ? Buffer::Known::each : Buffer::Known::common;
  found.segment = given.segment;
  found.offset = given.offset;
  found.each = static_cast<const std::byte*>(given.each);
  if (listed && given.each == nullptr)
    return refusal(why, "{} has no list of places: pass one with a place for each member", wanted.name);
  if (listed && given.members != shape.ranks && given.members != aqueduct::detail::kUnknownMembers)
    return refusal(why, "{} has a list of {} places, but the team has {} members: pass a place for each",
                   wanted.name, given.members, shape.ranks);
  const Rank owner = wanted.owner(shape, team.index);
  const Rank last = listed ? shape.ranks - 1 : owner;
  for (Rank i = listed ? 0 : owner; i <= last; ++i) {
    if (wanted.blocks(shape, i) == 0) continue;
    const GlobalPtr<std::byte> place = found.of(i, team.members[i]);
    if (place.rank() != team.members[i])
      return refusal(why,
                     "{} has a place of rank {} for member {}, which is rank {}: list them in team order",
                     wanted.name, place.rank(), i, team.members[i]);
    if (const Status status = check_place(team, i, place, wanted, why); !status) return status;
  }
  if (wanted.mine == 0) return {};
  const GlobalPtr<std::byte> mine = found.of(team.index, team.members[team.index]);
  std::byte* const part = team.endpoint.segments[mine.segment()].mine.data();
  found.mine = part != nullptr ? part + mine.offset() : &no_bytes;
  return {};
}

Status find_buffer(TeamState& team, const Shape& shape, const Wanted& wanted, Buffer& found,
                   std::string& why) noexcept {
  switch (wanted.given.where) {
    case CollBuffer::Where::nowhere: return {};
    case CollBuffer::Where::mine: return find_memory(wanted, found, why);
    case CollBuffer::Where::common:
    case CollBuffer::Where::each: break;
  }
  return find_place(team, shape, wanted, found, why);
}

/// The input of a call with one buffer: where a schedule in place expects it.
Buffer input_in(const Buffer& out, const Shape& shape, Rank me) noexcept {
  Buffer in = out;
  if (shape.operation == Collective::all_gather) {
    // My own block is at another offset on each member, so the others cannot name it.
    in = {};
    in.mine = out.mine + me * shape.bytes;
  } else if (blocks_in(shape, me) == 0) {
    in.mine = nullptr;
  }
  return in;
}

/// Two ranges that overlap must lie as they do in place.
Status check_overlap(const Shape& shape, Rank me, const Request& request, std::string& why) noexcept {
  const std::byte* const in = request.in.mine;
  const std::byte* const out = request.out.mine;
  const std::uint64_t in_bytes = blocks_in(shape, me) * shape.bytes;
  const std::uint64_t out_bytes = blocks_out(shape, me) * shape.bytes;
  if (in == nullptr || out == nullptr || shape.bytes == 0) return {};
  const std::less_equal<const std::byte*> not_after;
  if (not_after(in + in_bytes, out) || not_after(out + out_bytes, in)) return {};
  const std::uint64_t block = me * shape.bytes;
  switch (shape.operation) {
    case Collective::gather:
    case Collective::all_gather:
      if (in == out + block) return {};
      return refusal(why, "in and out overlap: in may be all of block {} of out, or none of its bytes", me);
    case Collective::scatter:
      if (out == in + block) return {};
      return refusal(why, "in and out overlap: out may be all of block {} of in, or none of its bytes", me);
    case Collective::all_to_all:
    case Collective::reduce_scatter:
      return refusal(why, "in and out overlap: this operation has no form in place, so pass two buffers");
    default:
      if (in == out) return {};
      return refusal(why, "in and out overlap in part: they may be the same range, or have no common bytes");
  }
}

}  // namespace

Status find_buffers(TeamState& team, const CollCall& call, Request& request, std::string& why) noexcept {
  const Shape& shape = request.shape;
  const Rank me = team.index;
  const Wanted in{"in", call.in, blocks_in, blocks_in(shape, me)};
  const Wanted out{"out", call.out, blocks_out, blocks_out(shape, me)};
  if (const Status status = check_kinds(call, in, out, why); !status) return status;
  const bool in_place = call.in.where == CollBuffer::Where::nowhere && works_in_place(call.operation);
  if (!in_place) {
    if (const Status status = check_length(shape, me, in, why); !status) return status;
  }
  if (const Status status = check_length(shape, me, out, why); !status) return status;
  if (const Status status = find_buffer(team, shape, in, request.in, why); !status) return status;
  if (const Status status = find_buffer(team, shape, out, request.out, why); !status) return status;
  if (!in_place) return check_overlap(shape, me, request, why);
  request.in = input_in(request.out, shape, me);
  return {};
}

}  // namespace aqueduct::coll
