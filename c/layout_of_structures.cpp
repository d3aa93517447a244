// Structures that C programs fill in or read themselves. Who changes a number here raises kLayout and AQ_LAYOUT, as in c/layout.cpp: a
// program compiled before has the old places, and the number is what refuses it. tests/structure/check_layouts.py looks that every
// structure and member of the headers is here or there.
#include <aqueduct/aqueduct.h>
#include <aqueduct/version.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>

namespace aqueduct::c {
namespace {

static_assert(kLayout == 1, "docs/decisions/0173-inline-functions-tell-their-layout.md");

/// Whether a structure has its members and its end where programs of this layout expect them.
template <class T>
constexpr bool lies(std::initializer_list<std::size_t> members, std::initializer_list<std::size_t> expected,
                    std::size_t bytes) {
  return std::equal(members.begin(), members.end(), expected.begin(), expected.end()) && sizeof(T) == bytes;
}

static_assert(lies<aq_algorithm_parameter>({offsetof(aq_algorithm_parameter, name),
                                            offsetof(aq_algorithm_parameter, least),
                                            offsetof(aq_algorithm_parameter, most),
                                            offsetof(aq_algorithm_parameter, usual),
                                            offsetof(aq_algorithm_parameter, reserved)},
                                           {0, 8, 12, 16, 20}, 24));
static_assert(
    lies<aq_algorithm_call>({offsetof(aq_algorithm_call, operation), offsetof(aq_algorithm_call, in),
                             offsetof(aq_algorithm_call, out), offsetof(aq_algorithm_call, order),
                             offsetof(aq_algorithm_call, commutative), offsetof(aq_algorithm_call, ranks),
                             offsetof(aq_algorithm_call, root), offsetof(aq_algorithm_call, element),
                             offsetof(aq_algorithm_call, bytes), offsetof(aq_algorithm_call, pitch),
                             offsetof(aq_algorithm_call, parameters), offsetof(aq_algorithm_call, reserved)},
                            {0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 60}, 64));
static_assert(lies<aq_step_place>({offsetof(aq_step_place, offset), offsetof(aq_step_place, memory),
                                   offsetof(aq_step_place, reserved)},
                                  {0, 8, 12}, 16));
static_assert(
    lies<aq_algorithm_needs>({offsetof(aq_algorithm_needs, scratch), offsetof(aq_algorithm_needs, temporary),
                              offsetof(aq_algorithm_needs, counters), offsetof(aq_algorithm_needs, reserved)},
                             {0, 8, 16, 20}, 24));
static_assert(lies<aq_algorithm_cost>({offsetof(aq_algorithm_cost, messages),
                                       offsetof(aq_algorithm_cost, bytes), offsetof(aq_algorithm_cost, depth),
                                       offsetof(aq_algorithm_cost, reserved)},
                                      {0, 8, 16, 20}, 24));
static_assert(lies<aq_algorithm>({offsetof(aq_algorithm, name), offsetof(aq_algorithm, operation),
                                  offsetof(aq_algorithm, reserved), offsetof(aq_algorithm, parameters),
                                  offsetof(aq_algorithm, refusal), offsetof(aq_algorithm, needs),
                                  offsetof(aq_algorithm, cost), offsetof(aq_algorithm, build),
                                  offsetof(aq_algorithm, context)},
                                 {0, 8, 12, 16, 88, 96, 104, 112, 120}, 128));
static_assert(lies<aq_incoming>({offsetof(aq_incoming, message), offsetof(aq_incoming, source),
                                 offsetof(aq_incoming, category), offsetof(aq_incoming, is_raw),
                                 offsetof(aq_incoming, number), offsetof(aq_incoming, reserved),
                                 offsetof(aq_incoming, tag), offsetof(aq_incoming, count),
                                 offsetof(aq_incoming, words), offsetof(aq_incoming, payload),
                                 offsetof(aq_incoming, bytes)},
                                {0, 8, 12, 13, 14, 15, 16, 18, 24, 32, 40}, 48));
static_assert(lies<aq_call>({offsetof(aq_call, words), offsetof(aq_call, count), offsetof(aq_call, handler),
                             offsetof(aq_call, tag), offsetof(aq_call, number), offsetof(aq_call, reserved)},
                            {0, 8, 10, 12, 14, 15}, 16));
static_assert(lies<aq_am_limits>({offsetof(aq_am_limits, arguments), offsetof(aq_am_limits, medium),
                                  offsetof(aq_am_limits, long_request), offsetof(aq_am_limits, long_reply)},
                                 {0, 8, 16, 24}, 32));
static_assert(lies<aq_bounds>({offsetof(aq_bounds, least), offsetof(aq_bounds, most),
                               offsetof(aq_bounds, own), offsetof(aq_bounds, own_bytes)},
                              {0, 8, 16, 24}, 32));
static_assert(lies<aq_prepared>({offsetof(aq_prepared, storage)}, {0}, 56));
static_assert(lies<aq_space>({offsetof(aq_space, words)}, {0}, 16));
static_assert(lies<aq_accepts>({offsetof(aq_accepts, categories), offsetof(aq_accepts, least_words),
                                offsetof(aq_accepts, most_words), offsetof(aq_accepts, flags)},
                               {0, 1, 2, 3}, 4));
static_assert(lies<aq_domain>({offsetof(aq_domain, ep), offsetof(aq_domain, operations),
                               offsetof(aq_domain, type), offsetof(aq_domain, by),
                               offsetof(aq_domain, reserved)},
                              {0, 8, 12, 13, 14}, 16));
static_assert(lies<aq_i32_index>({offsetof(aq_i32_index, value), offsetof(aq_i32_index, index)}, {0, 8}, 16));
static_assert(lies<aq_i64_index>({offsetof(aq_i64_index, value), offsetof(aq_i64_index, index)}, {0, 8}, 16));
static_assert(lies<aq_f32_index>({offsetof(aq_f32_index, value), offsetof(aq_f32_index, index)}, {0, 8}, 16));
static_assert(lies<aq_f64_index>({offsetof(aq_f64_index, value), offsetof(aq_f64_index, index)}, {0, 8}, 16));
static_assert(lies<aq_block>({offsetof(aq_block, count), offsetof(aq_block, type),
                              offsetof(aq_block, element)},
                             {0, 8, 12}, 16));
static_assert(lies<aq_reducer>({offsetof(aq_reducer, op), offsetof(aq_reducer, number)}, {0, 4}, 8));
static_assert(lies<aq_operator>({offsetof(aq_operator, combine), offsetof(aq_operator, context),
                                 offsetof(aq_operator, element), offsetof(aq_operator, commutative),
                                 offsetof(aq_operator, reserved)},
                                {0, 8, 16, 24, 28}, 32));
static_assert(lies<aq_buffer>({offsetof(aq_buffer, kind), offsetof(aq_buffer, segment),
                               offsetof(aq_buffer, offset), offsetof(aq_buffer, memory),
                               offsetof(aq_buffer, each)},
                              {0, 4, 8, 16, 24}, 32));
static_assert(lies<aq_blocks>({offsetof(aq_blocks, counts), offsetof(aq_blocks, displacements)}, {0, 8}, 16));
static_assert(lies<aq_coll_options>({offsetof(aq_coll_options, in), offsetof(aq_coll_options, out),
                                     offsetof(aq_coll_options, order), offsetof(aq_coll_options, flags),
                                     offsetof(aq_coll_options, limit)},
                                    {0, 4, 8, 12, 16}, 24));
static_assert(lies<aq_rank_range>({offsetof(aq_rank_range, first), offsetof(aq_rank_range, last),
                                   offsetof(aq_rank_range, stride)},
                                  {0, 4, 8}, 16));
static_assert(lies<aq_statistic>({offsetof(aq_statistic, name), offsetof(aq_statistic, unit),
                                  offsetof(aq_statistic, name_bytes), offsetof(aq_statistic, unit_bytes),
                                  offsetof(aq_statistic, value)},
                                 {0, 8, 16, 24, 32}, 40));
static_assert(lies<aq_status>({offsetof(aq_status, code), offsetof(aq_status, peer)}, {0, 4}, 8));
static_assert(lies<aq_tune_options>({offsetof(aq_tune_options, time), offsetof(aq_tune_options, candidates),
                                     offsetof(aq_tune_options, type), offsetof(aq_tune_options, calls),
                                     offsetof(aq_tune_options, work), offsetof(aq_tune_options, context),
                                     offsetof(aq_tune_options, work_limit), offsetof(aq_tune_options, save)},
                                    {0, 8, 12, 16, 40, 48, 56, 64}, 72));
static_assert(lies<aq_tune_report>({offsetof(aq_tune_report, found), offsetof(aq_tune_report, undecided),
                                    offsetof(aq_tune_report, left_out), offsetof(aq_tune_report, saved),
                                    offsetof(aq_tune_report, reserved)},
                                   {0, 8, 16, 24, 28}, 32));
static_assert(lies<aq_ptr>({offsetof(aq_ptr, rank), offsetof(aq_ptr, segment), offsetof(aq_ptr, offset)},
                           {0, 4, 8}, 16));
static_assert(lies<aq_options>({offsetof(aq_options, flags), offsetof(aq_options, reserved),
                                offsetof(aq_options, source_event), offsetof(aq_options, group)},
                               {0, 4, 8, 16}, 24));
static_assert(lies<aq_piece>({offsetof(aq_piece, offset), offsetof(aq_piece, bytes)}, {0, 8}, 16));
static_assert(lies<aq_dimension>({offsetof(aq_dimension, count), offsetof(aq_dimension, stride)}, {0, 8},
                                 16));
static_assert(lies<aq_shape>({offsetof(aq_shape, kind), offsetof(aq_shape, reserved),
                              offsetof(aq_shape, bytes), offsetof(aq_shape, list), offsetof(aq_shape, count)},
                             {0, 4, 8, 16, 24}, 32));

}  // namespace
}  // namespace aqueduct::c
