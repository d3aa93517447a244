#pragma once

// The C face of aqueduct/algorithm.hpp: algorithms of the program's own for collective operations, beside the library's.
// docs/collectives/own-algorithms.md has a whole one.

#include <aqueduct/c/coll.h>
#include <aqueduct/c/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The most parameters of an algorithm.
#define AQ_ALGORITHM_PARAMETERS 3

/// A number that an algorithm takes: aqueduct::AlgorithmParameter. All bytes 0: none.
typedef struct aq_algorithm_parameter {
  const char* name;  ///< small letters, digits, `-` and `_`; null: the algorithm does not have this parameter, or any after it
  uint32_t least;    ///< 1 <= least <= usual <= most
  uint32_t most;
  uint32_t usual;
  uint32_t reserved;  ///< 0
} aq_algorithm_parameter;

/// What an algorithm is asked to do: aqueduct::AlgorithmCall. The same on all members.
typedef struct aq_algorithm_call {
  uint32_t operation;    ///< enum aq_collective
  uint32_t in;           ///< enum aq_sync
  uint32_t out;          ///< enum aq_sync
  uint32_t order;        ///< enum aq_reduce_order
  uint32_t commutative;  ///< 0 or 1
  uint32_t ranks;        ///< members of the team
  uint32_t root;         ///< as a position in the team; 0 if the operation has none
  uint32_t element;      ///< bytes of an element
  uint64_t bytes;        ///< of one block
  uint64_t pitch;        ///< distance of two blocks in a buffer that has several
  uint32_t parameters[AQ_ALGORITHM_PARAMETERS];
  uint32_t reserved;
} aq_algorithm_call;

/// Memory that a step names: the values of aqueduct::StepMemory.
enum aq_step_memory {
  AQ_STEP_INPUT,     ///< the member's input: of a broadcast and a scatter, the root's alone
  AQ_STEP_OUTPUT,    ///< the member's output: of a gather and a reduce, the root's alone
  AQ_STEP_SCRATCH,   ///< of the operation, on each member: here peers put
  AQ_STEP_TEMPORARY  ///< of this member alone
};
typedef struct aq_step_place {
  uint64_t offset;
  uint32_t memory;    ///< enum aq_step_memory
  uint32_t reserved;  ///< not looked at
} aq_step_place;
static inline aq_step_place aq_step_at(int memory, uint64_t offset) {
  const aq_step_place place = {offset, (uint32_t)memory, 0};
  return place;
}

/// The most that any member needs. The same on all members, and for all roots.
typedef struct aq_algorithm_needs {
  uint64_t scratch;    ///< bytes
  uint64_t temporary;  ///< bytes
  uint32_t counters;
  uint32_t reserved;  ///< not looked at
} aq_algorithm_needs;

/// What is sent in all: puts and signals of all members, bytes of these puts, and the longest chain of messages.
typedef struct aq_algorithm_cost {
  uint64_t messages;
  uint64_t bytes;
  uint32_t depth;
  uint32_t reserved;  ///< not looked at
} aq_algorithm_cost;

/// The steps of one member, in order: aqueduct::StepList says what each does. Valid during `build`.
typedef struct aq_step_list aq_step_list;
#define AQ_NO_COUNTER 0xffffu

/// Later steps begin when the counter has `total`: all that is ever added to it.
void aq_step_wait(aq_step_list* steps, uint32_t counter, uint32_t total);
/// Puts bytes into the peer's scratch, and raises its counter; then this member's counter `done`, unless that is AQ_NO_COUNTER.
void aq_step_put(aq_step_list* steps, uint32_t peer, aq_step_place from, uint64_t to_scratch, uint64_t bytes,
                 uint32_t counter, uint32_t done);
/// Raises the peer's counter.
void aq_step_signal(aq_step_list* steps, uint32_t peer, uint32_t counter);
/// Copies bytes on this member.
void aq_step_copy(aq_step_list* steps, aq_step_place from, aq_step_place to, uint64_t bytes);
/// to = left ∘ right, in whole elements, on this member. `to` may be `left` or `right`.
void aq_step_reduce(aq_step_list* steps, aq_step_place left, aq_step_place right, aq_step_place to, uint64_t bytes);

/// An algorithm: aqueduct::CollectiveAlgorithm. All bytes 0 stand for nothing.
///
/// The functions are pure: the same arguments give the same answers on all ranks, at any time. What they read of `context` is
/// the same on all ranks too. They are called often, on any thread, and do not allocate, jump out or use the library, except
/// that `build` calls the aq_step_… functions.
typedef struct aq_algorithm {
  const char* name;    ///< 1 to 40 small letters, digits, `-` and `_`
  uint32_t operation;  ///< enum aq_collective, from AQ_COLL_BROADCAST to AQ_COLL_EXSCAN
  uint32_t reserved;   ///< 0
  aq_algorithm_parameter parameters[AQ_ALGORITHM_PARAMETERS];
  /// Null if the algorithm can do this call; otherwise why not, in words that stay valid. No function: it can do all.
  const char* (*refusal)(const aq_algorithm_call* call, void* context);
  aq_algorithm_needs (*needs)(const aq_algorithm_call* call, void* context);
  aq_algorithm_cost (*cost)(const aq_algorithm_call* call, void* context);
  /// Lists the steps of the member at this position.
  void (*build)(const aq_algorithm_call* call, uint32_t member, aq_step_list* steps, void* context);
  void* context;  ///< the functions' last argument; needed while a config or a job has the algorithm
} aq_algorithm;

/// Adds an algorithm, before the job starts, on all ranks the same: Config::add_algorithm. The structure and its names are
/// copied.
///
/// Errors: AQ_BAD_SETTING (the last text of aq_config_problem_text says what is wrong with it), AQ_INVALID_ARGUMENT (null, or
/// a reserved number is not 0), AQ_NO_MEMORY.
aq_status aq_config_add_algorithm(aq_config* config, const aq_algorithm* algorithm) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
