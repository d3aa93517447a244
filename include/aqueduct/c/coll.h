#pragma once

// The C face of aqueduct/coll.hpp, aqueduct/coll_v.hpp and aqueduct/coll_types.hpp: collective operations. All members of a team call the
// same function, in the same order.

#include <aqueduct/c/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The values of aqueduct::Collective that can be called.
enum aq_collective {
  AQ_COLL_BARRIER,
  AQ_COLL_BROADCAST,
  AQ_COLL_SCATTER,
  AQ_COLL_GATHER,
  AQ_COLL_ALL_GATHER,
  AQ_COLL_ALL_TO_ALL,
  AQ_COLL_REDUCE,
  AQ_COLL_ALL_REDUCE,
  AQ_COLL_REDUCE_SCATTER,
  AQ_COLL_SCAN,
  AQ_COLL_EXSCAN,
  AQ_COLL_PERMUTE,
  AQ_COLL_SCATTER_V,
  AQ_COLL_GATHER_V,
  AQ_COLL_ALL_GATHER_V,
  AQ_COLL_ALL_TO_ALL_V
};

/// The values of aqueduct::ElementType. A half and a bfloat16 are a uint16_t with their bits.
enum aq_element_type {
  AQ_ELEMENT_BYTES,  ///< of any size; only a user's operator combines such elements
  AQ_ELEMENT_I8,
  AQ_ELEMENT_I16,
  AQ_ELEMENT_I32,
  AQ_ELEMENT_I64,
  AQ_ELEMENT_U8,
  AQ_ELEMENT_U16,
  AQ_ELEMENT_U32,
  AQ_ELEMENT_U64,
  AQ_ELEMENT_HALF,
  AQ_ELEMENT_BFLOAT16,
  AQ_ELEMENT_F32,
  AQ_ELEMENT_F64,
  AQ_ELEMENT_COMPLEX_F32,  ///< float _Complex
  AQ_ELEMENT_COMPLEX_F64,
  AQ_ELEMENT_I32_INDEX,  ///< aq_i32_index, and so on
  AQ_ELEMENT_I64_INDEX,
  AQ_ELEMENT_F32_INDEX,
  AQ_ELEMENT_F64_INDEX
};
/// A value and where it was found, for AQ_REDUCE_MIN_INDEX and AQ_REDUCE_MAX_INDEX.
typedef struct aq_i32_index {
  int32_t value;
  int64_t index;
} aq_i32_index;
typedef struct aq_i64_index {
  int64_t value;
  int64_t index;
} aq_i64_index;
typedef struct aq_f32_index {
  float value;
  int64_t index;
} aq_f32_index;
typedef struct aq_f64_index {
  double value;
  int64_t index;
} aq_f64_index;

/// A block: the unit of an operation, `count` elements of a type. It has the same length on all members.
typedef struct aq_block {
  uint64_t count;
  uint32_t type;     ///< enum aq_element_type
  uint32_t element;  ///< bytes of one element; 0: as the type has, or 1 for AQ_ELEMENT_BYTES
} aq_block;
static inline aq_block aq_block_of(int type, uint64_t count) {
  const aq_block block = {count, (uint32_t)type, 0};
  return block;
}
/// A block of `count` elements of `element` bytes each, of no type in particular.
static inline aq_block aq_block_of_bytes(uint64_t count, uint32_t element) {
  const aq_block block = {count, AQ_ELEMENT_BYTES, element};
  return block;
}

/// The values of aqueduct::ReduceOp; aqueduct/coll_types.hpp says what each does, and which types have it.
enum aq_reduce_op {
  AQ_REDUCE_SUM,
  AQ_REDUCE_PRODUCT,
  AQ_REDUCE_MIN,
  AQ_REDUCE_MAX,
  AQ_REDUCE_BIT_AND,
  AQ_REDUCE_BIT_OR,
  AQ_REDUCE_BIT_XOR,
  AQ_REDUCE_LOGICAL_AND,
  AQ_REDUCE_LOGICAL_OR,
  AQ_REDUCE_LOGICAL_XOR,
  AQ_REDUCE_MIN_INDEX,
  AQ_REDUCE_MAX_INDEX,
  AQ_REDUCE_USER
};
/// An operator of a reduction.
typedef struct aq_reducer {
  uint32_t op;      ///< enum aq_reduce_op
  uint32_t number;  ///< of a user's operator
} aq_reducer;
static inline aq_reducer aq_by(int op) {
  const aq_reducer reducer = {(uint32_t)op, 0};
  return reducer;
}
static inline aq_reducer aq_by_user(uint32_t number) {
  const aq_reducer reducer = {AQ_REDUCE_USER, number};
  return reducer;
}

/// For each i below `count`, to[i] = left[i] ∘ right[i]. `to` may be `left` or `right`; `left` is of earlier members.
/// Runs inside progress, and must not call the library. The pointers are aligned for the element, but for 16 bytes at the most.
typedef void (*aq_combine)(void* to, const void* left, const void* right, size_t count, void* context);
typedef struct aq_operator {
  aq_combine combine;
  void* context;
  size_t element;        ///< bytes of one element
  uint32_t commutative;  ///< 0 or 1
  uint32_t reserved;     ///< 0
} aq_operator;
/// Adds an operator of the program's own under a number. All members of a team that use it add the same one.
///
/// Errors: AQ_INVALID_ARGUMENT (no function, no bytes, or the number has another operator), AQ_NO_MEMORY.
aq_status aq_operator_add(aq_endpoint* ep, uint32_t number, const aq_operator* with) AQ_MUST_USE;

enum aq_buffer_kind {
  AQ_BUFFER_NONE,    ///< this member needs none; as the input: in place, if the operation can
  AQ_BUFFER_MINE,    ///< memory of this member
  AQ_BUFFER_ON_ALL,  ///< the same place of a segment on all members
  AQ_BUFFER_EACH     ///< a place for each member, in team order: the same list on all members
};
/// A buffer of a collective call. The call says how many blocks lie there.
typedef struct aq_buffer {
  uint32_t kind;       ///< enum aq_buffer_kind
  uint32_t segment;    ///< AQ_BUFFER_ON_ALL
  uint64_t offset;     ///< likewise; in bytes
  void* memory;        ///< AQ_BUFFER_MINE; an input is not written
  const aq_ptr* each;  ///< AQ_BUFFER_EACH; needed until the operation is over
} aq_buffer;
static inline aq_buffer aq_no_buffer(void) {
  const aq_buffer none = {AQ_BUFFER_NONE, 0, 0, NULL, NULL};
  return none;
}
static inline aq_buffer aq_mine(const void* memory) {
  const aq_buffer mine = {AQ_BUFFER_MINE, 0, 0, (void*)(uintptr_t)memory, NULL};
  return mine;
}
static inline aq_buffer aq_on_all(uint32_t segment, uint64_t offset) {
  const aq_buffer places = {AQ_BUFFER_ON_ALL, segment, offset, NULL, NULL};
  return places;
}
static inline aq_buffer aq_on_each(const aq_ptr* each) {
  const aq_buffer places = {AQ_BUFFER_EACH, 0, 0, NULL, each};
  return places;
}

/// Where the blocks of a buffer lie, in elements: block i belongs to member i. Arrays as long as the team has members, needed
/// until the function returns. `displacements` may be null: then the blocks lie one after the other. See
/// aqueduct/coll_v.hpp.
typedef struct aq_blocks {
  const uint64_t* counts;
  const uint64_t* displacements;
} aq_blocks;
static inline aq_blocks aq_blocks_of(const uint64_t* counts, const uint64_t* displacements) {
  const aq_blocks blocks = {counts, displacements};
  return blocks;
}
static inline aq_blocks aq_no_blocks(void) {
  const aq_blocks none = {NULL, NULL};
  return none;
}
/// Of aq_permute: the caller does not know from whom it receives.
#define AQ_ANY_SOURCE 0xffffffffu

/// When bytes may move: aqueduct::Sync. The numbers are others, so that 0 is the safe one.
enum aq_sync { AQ_SYNC_ALL, AQ_SYNC_MINE, AQ_SYNC_NONE };
/// The values of aqueduct::ReduceOrder.
enum aq_reduce_order { AQ_ORDER_ANY, AQ_ORDER_SAME_EVERYWHERE, AQ_ORDER_EXACT };
/// Bits of aq_coll_options::flags. AQ_COLL_NO_TRIALS: aqueduct::CollOptions::no_trials.
enum aq_coll_flag { AQ_COLL_NO_TRIALS = 1 };
/// How a collective call goes. A null pointer to it stands for all zero. The same on all members, except for `limit`.
typedef struct aq_coll_options {
  uint32_t in;     ///< enum aq_sync
  uint32_t out;    ///< enum aq_sync
  uint32_t order;  ///< enum aq_reduce_order
  uint32_t flags;  ///< enum aq_coll_flag
  int64_t
      limit;  ///< of a blocking call, in nanoseconds: AQ_TIMED_OUT then, and the operation goes on; 0: none
} aq_coll_options;

/// A collective call whose arguments are bound: see aqueduct::CollPlan.
typedef struct aq_plan aq_plan;

/// Each operation has three forms: aq_broadcast waits, aq_broadcast_nb returns an event, aq_broadcast_plan makes a plan.
/// All return AQ_INVALID_ARGUMENT, AQ_OUT_OF_RANGE, AQ_IN_HANDLER, AQ_CLOSED, AQ_PEER_LOST, AQ_MISMATCH, AQ_TIMED_OUT,
/// AQ_REFUSED or AQ_NO_MEMORY as aqueduct/coll.hpp says. Unknown numbers and reserved bits are AQ_INVALID_ARGUMENT; also
/// such a call is one of the team's order, and the other members get AQ_MISMATCH.
#define AQ_DEFINE_COLLECTIVE(name, ...)                                                                  \
  aq_status aq_##name(aq_team* team, __VA_ARGS__, const aq_coll_options* options) AQ_MUST_USE;           \
  aq_event aq_##name##_nb(aq_team* team, __VA_ARGS__, const aq_coll_options* options) AQ_MUST_USE;       \
  aq_status aq_##name##_plan(aq_team* team, __VA_ARGS__, const aq_coll_options* options, aq_plan** made) \
      AQ_MUST_USE

/// The root's `in` becomes the `out` of all members: a block. With AQ_BUFFER_NONE for `in`, the root's `out` does.
AQ_DEFINE_COLLECTIVE(broadcast, aq_buffer in, aq_buffer out, aq_block block, uint32_t root);
/// Block i of the root's `in` becomes member i's `out`. `in` has a block for each member.
AQ_DEFINE_COLLECTIVE(scatter, aq_buffer in, aq_buffer out, aq_block block, uint32_t root);
/// Member i's `in` becomes block i of the root's `out`.
AQ_DEFINE_COLLECTIVE(gather, aq_buffer in, aq_buffer out, aq_block block, uint32_t root);
/// Member i's `in` becomes block i of every member's `out`. In place the input is my block of `out`.
AQ_DEFINE_COLLECTIVE(all_gather, aq_buffer in, aq_buffer out, aq_block block);
/// Block j of member i's `in` becomes block i of member j's `out`.
AQ_DEFINE_COLLECTIVE(all_to_all, aq_buffer in, aq_buffer out, aq_block block);
/// The root's `out` becomes x0 ∘ x1 ∘ … of the members' `in`, element by element.
AQ_DEFINE_COLLECTIVE(reduce, aq_buffer in, aq_buffer out, aq_block block, aq_reducer reducer, uint32_t root);
/// Every member's `out` becomes that. In place the input is `out`.
AQ_DEFINE_COLLECTIVE(all_reduce, aq_buffer in, aq_buffer out, aq_block block, aq_reducer reducer);
/// Member i's `out` becomes block i of that. `in` has a block for each member.
AQ_DEFINE_COLLECTIVE(reduce_scatter, aq_buffer in, aq_buffer out, aq_block block, aq_reducer reducer);
/// Member i's `out` becomes x0 ∘ … ∘ xi. In place the input is `out`.
AQ_DEFINE_COLLECTIVE(scan, aq_buffer in, aq_buffer out, aq_block block, aq_reducer reducer);
/// Member i's `out` becomes x0 ∘ … ∘ x(i-1); that of member 0 stays as it was. In place the input is `out`.
AQ_DEFINE_COLLECTIVE(exscan, aq_buffer in, aq_buffer out, aq_block block, aq_reducer reducer);

// Blocks may differ in length: AQ_BUFFER_MINE or AQ_BUFFER_NONE only. The buffers with blocks are as long as these need;
// `block` gives the element, and the count of the other buffer, which is one block. If the two ends of a block give it
// different lengths, all members get AQ_MISMATCH, and the team goes on.

/// Block i of the root's `in` becomes member i's `out`, which is a `block`.
AQ_DEFINE_COLLECTIVE(scatter_v, aq_buffer in, aq_blocks in_blocks, aq_buffer out, aq_block block,
                     uint32_t root);
/// Member i's `in`, which is a `block`, becomes block i of the root's `out`.
AQ_DEFINE_COLLECTIVE(gather_v, aq_buffer in, aq_buffer out, aq_blocks out_blocks, aq_block block,
                     uint32_t root);
/// Member i's `in`, which is a `block`, becomes block i of every member's `out`. In place the input is my block of `out`.
AQ_DEFINE_COLLECTIVE(all_gather_v, aq_buffer in, aq_buffer out, aq_blocks out_blocks, aq_block block);
/// Block j of member i's `in` becomes block i of member j's `out`. The count of `block` is not used.
AQ_DEFINE_COLLECTIVE(all_to_all_v, aq_buffer in, aq_blocks in_blocks, aq_buffer out, aq_blocks out_blocks,
                     aq_block block);
/// Member i's `in` becomes the `out` of member `to`. `from` is the member that sends to this one, or AQ_ANY_SOURCE on all
/// members. `block` is the same on all members.
AQ_DEFINE_COLLECTIVE(permute, aq_buffer in, aq_buffer out, aq_block block, uint32_t to, uint32_t from);

#undef AQ_DEFINE_COLLECTIVE

/// Begins the operation on the buffers' present contents. Errors: also AQ_INVALID_ARGUMENT (the last start is not over; no plan).
aq_event aq_plan_start(aq_plan* plan) AQ_MUST_USE;
/// Begins it and waits.
aq_status aq_plan_run(aq_plan* plan) AQ_MUST_USE;
/// Gives back what the plan holds: a call in the team's order. `plan` must still be destroyed. Errors:
/// AQ_INVALID_ARGUMENT (it is running, has ended, or is null), AQ_CLOSED.
aq_status aq_plan_end(aq_plan* plan) AQ_MUST_USE;
/// Frees a plan. One that was not ended keeps its scratch until the team ends. `plan` may be null.
void aq_plan_destroy(aq_plan* plan);

/// Which algorithm a collective call on this team would use, and why not the others: writes as much of the text as fits
/// into `bytes` bytes, ended by 0, and returns the length of the whole text. `text` may be null if `bytes` is 0. Sends
/// nothing. The text is empty if there is no memory for it.
size_t aq_team_explain(aq_team* team, int operation, aq_block block, const aq_coll_options* options,
                       char* text, size_t bytes);

/// Scratch of the program's own: as aqueduct/coll_scratch.hpp says. `memory` is null if `bytes` is 0.
uint64_t aq_team_least_scratch(const aq_team* team);
aq_status aq_team_use_scratch(aq_team* team, void* memory, size_t bytes) AQ_MUST_USE;

/// Gives the team a tree for the algorithm `team-tree`, as Team::use_tree does (aqueduct/team.hpp). Takes the same `words` as
/// AQUEDUCT_COLL_TREE. Null words are AQ_INVALID_ARGUMENT on all members.
aq_status aq_team_use_tree(aq_team* team, const char* words) AQ_MUST_USE;
/// The same by the parent of each member, AQ_NO_RANK of the root. `count` is the number of members, or 0: then the team has no
/// tree, and `parents` may be null.
aq_status aq_team_use_tree_of(aq_team* team, const uint32_t* parents, size_t count) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
