#pragma once

#include <aqueduct/coll.hpp>

#include <cstdint>
#include <optional>
#include <span>

// Collective operations whose blocks may have different lengths, and permute.
//
// What coll.hpp says of forms, completion, order and errors holds here too. What differs:
//
// Buffers:    memory of this member: any contiguous range of T, in a segment or not. No places of on_all.
// Blocks:     counts and displacements are numbers of elements, 64 bits each, in team order. A member gives those of its
//             own buffers only. An empty block is not sent, and its displacement is not looked at. What lies between the
//             blocks of an output stays as it is.
// Lifetime:   counts and displacements until the function returns, also of `_nb` and `_plan`, which keep a copy.
// Agreement:  both ends of a pair name the length of its block. The members compare all lengths before any byte moves.
//             If two ends differ, all members get `mismatch`, the log of the two names the pair and both lengths, and no
//             output has changed. The team goes on.
// Errors:     also
//             invalid_argument  counts or displacements for fewer or more than all members; blocks that overlap in an
//                               output; blocks beyond the end of their buffer, or of 64 bits; a member's own
//                               block with two lengths. As of every call, the team is broken if not all get it
//             mismatch          two ends differ (above); permute: the destinations are no permutation
//             not_supported     teams of more than 65535 members
//             too_large         the longest block needs more than 2^32 pieces (docs/collectives/blocks.md)
// Sync modes: all members have called before bytes move, whatever CollOptions::in says. CollOptions::out is as always.
//             Until then no later call of the team moves bytes either, not even one with Sync::none or mine. So do not
//             wait for such a call before the other members can make this one.
// Cost:       ceil(log2 P) rounds of 16 bytes in which lengths are compared, then a put for each block that is not empty,
//             through scratch and in pieces if blocks are long. O(P) work on each member.

namespace aqueduct {

/// Where the blocks of a buffer lie: block i belongs to member i. In elements.
///
/// Shape: `counts` has a number for each member. So has `displacements`, or it is empty: then the blocks lie one after the
///        other from the beginning of the buffer on.
struct CollBlocks {
  std::span<const std::uint64_t> counts = {};
  std::span<const std::uint64_t> displacements = {};
};

namespace detail {

/// A collective call whose blocks may differ, without types.
struct CollBlocksCall : CollCall {
  CollBlocks in_blocks;   ///< of scatter_v and all_to_all_v
  CollBlocks out_blocks;  ///< of gather_v, all_gather_v and all_to_all_v
  Rank to = kNoRank;      ///< of permute
  Rank from = kNoRank;    ///< likewise; kNoRank: not known
};

Status coll_run(Team&, const CollBlocksCall&) noexcept;
Event coll_begin(Team&, const CollBlocksCall&) noexcept;
Result<CollPlan> coll_bind(Team&, const CollBlocksCall&) noexcept;

template <class In, class Out>
CollBlocksCall coll_blocks_call(Collective operation, In& in, const CollBlocks& in_blocks, Out& out,
                                const CollBlocks& out_blocks, Rank root,
                                const CollOptions& options) noexcept {
  CollBlocksCall call;
  static_cast<CollCall&>(call) = coll_call(operation, in, out, root, {}, options);
  call.in_blocks = in_blocks;
  call.out_blocks = out_blocks;
  return call;
}
template <class Data>
CollBlocksCall coll_blocks_call_in_place(Collective operation, Data& data, const CollBlocks& blocks,
                                         const CollOptions& options) noexcept {
  CollBlocksCall call = coll_blocks_call(operation, data, {}, data, blocks, 0, options);
  call.in = {};
  return call;
}
template <class In, class Out>
CollBlocksCall coll_permute_call(In& in, Out& out, Rank to, Rank from, const CollOptions& options) noexcept {
  CollBlocksCall call = coll_blocks_call(Collective::permute, in, {}, out, {}, 0, options);
  call.to = to;
  call.from = from;
  return call;
}

}  // namespace detail

/// Memory of this member that a call reads.
template <class B>
concept CollOwnInput = CollBufferLike<B> && !detail::CollPlace<B>;
/// Memory of this member that a call writes.
template <class B>
concept CollOwnOutput = CollOutput<B> && !detail::CollPlace<B>;

// The three forms of an operation, as in coll.hpp.
#define AQUEDUCT_COLL_V_FORMS_OF(arguments, name, parameters, ...) \
  template <AQUEDUCT_COLL_V_UNPACK arguments>                      \
  inline Status name parameters noexcept {                         \
    return detail::coll_run(team, __VA_ARGS__);                    \
  }                                                                \
  template <AQUEDUCT_COLL_V_UNPACK arguments>                      \
  inline Event name##_nb parameters noexcept {                     \
    return detail::coll_begin(team, __VA_ARGS__);                  \
  }                                                                \
  template <AQUEDUCT_COLL_V_UNPACK arguments>                      \
  inline Result<CollPlan> name##_plan parameters noexcept {        \
    return detail::coll_bind(team, __VA_ARGS__);                   \
  }
#define AQUEDUCT_COLL_V_UNPACK(...) __VA_ARGS__

/// Block i of the root's `in` becomes member i's `out`.
///
/// Shape:    member i's `out` has as many elements as block i. `in` and `in_blocks` are the root's; those of the others
///           may be empty. Blocks of `in` may overlap.
/// In place: at the root `out` may be its own block of `in`.
/// Cost:     P - 1 messages of the root.
AQUEDUCT_COLL_V_FORMS_OF((CollOwnInput I, CollOwnOutput O), scatter_v,
                         (Team & team, I&& in, const CollBlocks& in_blocks, O&& out, Rank root = 0,
                          const CollOptions& options = {}),
                         detail::coll_blocks_call(Collective::scatter_v, in, in_blocks, out, {}, root,
                                                  options))

/// Member i's `in` becomes block i of the root's `out`.
///
/// Shape:    block i has as many elements as member i's `in`. `out` and `out_blocks` are the root's; those of the others
///           may be empty.
/// In place: at the root `in` may be its own block of `out`.
/// Cost:     P - 1 messages to the root.
AQUEDUCT_COLL_V_FORMS_OF((CollOwnInput I, CollOwnOutput O), gather_v,
                         (Team & team, I&& in, O&& out, const CollBlocks& out_blocks, Rank root = 0,
                          const CollOptions& options = {}),
                         detail::coll_blocks_call(Collective::gather_v, in, {}, out, out_blocks, root,
                                                  options))

/// Member i's `in` becomes block i of every member's `out`.
///
/// Shape:    block i has as many elements as member i's `in`. Displacements may differ between members.
/// In place: with one buffer, where the input is my block of `data`; `in` may also be my block of `out`.
/// Cost:     P - 1 messages of each member, whose block goes to every other one; short blocks of many members go in
///           ceil(log2 P) messages of each (`circulant`).
AQUEDUCT_COLL_V_FORMS_OF((CollOwnOutput B), all_gather_v,
                         (Team & team, B&& data, const CollBlocks& blocks, const CollOptions& options = {}),
                         detail::coll_blocks_call_in_place(Collective::all_gather_v, data, blocks, options))
AQUEDUCT_COLL_V_FORMS_OF((CollOwnInput I, CollOwnOutput O), all_gather_v,
                         (Team & team, I&& in, O&& out, const CollBlocks& out_blocks,
                          const CollOptions& options = {}),
                         detail::coll_blocks_call(Collective::all_gather_v, in, {}, out, out_blocks, 0,
                                                  options))

/// Block j of member i's `in` becomes block i of member j's `out`.
///
/// Shape:    block j of member i's `in` and block i of member j's `out` have the same number of elements. Blocks of `in`
///           may overlap.
/// In place: no. `in` and `out` must not overlap from the beginning of the first block to the end of the last, gaps included.
/// Cost:     a message for each block that is not empty.
AQUEDUCT_COLL_V_FORMS_OF((CollOwnInput I, CollOwnOutput O), all_to_all_v,
                         (Team & team, I&& in, const CollBlocks& in_blocks, O&& out,
                          const CollBlocks& out_blocks, const CollOptions& options = {}),
                         detail::coll_blocks_call(Collective::all_to_all_v, in, in_blocks, out, out_blocks, 0,
                                                  options))

/// Member i's `in` becomes the `out` of member `to`. Each member sends to one and receives from one; it may be itself.
///
/// Shape:    `in` and `out` have n elements, on all members. `to` is a position in the team. `from` is the position of the
///           member whose `to` is this one; `{}`: the caller does not know it. If all members say it, it is compared too.
///           There is no "nobody": who has no partner names itself.
/// In place: no.
/// Cost:     one message of each member, and the comparison.
AQUEDUCT_COLL_V_FORMS_OF((CollOwnInput I, CollOwnOutput O), permute,
                         (Team & team, I&& in, O&& out, Rank to, std::optional<Rank> from = {},
                          const CollOptions& options = {}),
                         detail::coll_permute_call(in, out, to, from.value_or(kNoRank), options))

#undef AQUEDUCT_COLL_V_FORMS_OF
#undef AQUEDUCT_COLL_V_UNPACK

}  // namespace aqueduct
