// Ties the layouts and numbers of the C headers to those of the C++ ones.
#include <aqueduct/coll.hpp>

#include "c/convert.hpp"

namespace aqueduct::detail {

/// A friend of Endpoint: knows where its members are.
struct LayoutForC {
  static_assert(std::is_standard_layout_v<Endpoint>);
  static_assert(offsetof(aq_endpoint, state) == offsetof(Endpoint, state_));
  static_assert(offsetof(aq_endpoint, rank) == offsetof(Endpoint, rank_));
  static_assert(offsetof(aq_endpoint, ranks) == offsetof(Endpoint, ranks_));
  static_assert(offsetof(aq_endpoint, segments) == offsetof(Endpoint, segments_));
  static_assert(offsetof(aq_endpoint, segment_shift) == offsetof(Endpoint, segment_shift_));
  static_assert(offsetof(aq_endpoint, windows) == offsetof(Endpoint, windows_));
  static_assert(offsetof(aq_endpoint, value_windows) == offsetof(Endpoint, value_windows_));
  static_assert(offsetof(aq_endpoint, rows) == offsetof(Endpoint, rows_));
  static_assert(offsetof(aq_endpoint, value_rows) == offsetof(Endpoint, value_rows_));
  static_assert(sizeof(aq_endpoint::rows) == sizeof(Endpoint::rows_));
  static_assert(sizeof(Rank) == 4 && sizeof(SegmentId) == 4);
};

// What the inline functions read; c/layout_of_structures.cpp has what programs fill in and read themselves. Who changes a number here raises kLayout and AQ_LAYOUT: a program compiled before would read other
// words, and the number is what refuses it (docs/decisions/0173-inline-functions-tell-their-layout.md).
static_assert(kLayout == 1 && AQ_LAYOUT == kLayout);
static_assert(offsetof(aq_endpoint, state) == 0 && offsetof(aq_endpoint, rank) == 3912 &&
              offsetof(aq_endpoint, ranks) == 3916 && offsetof(aq_endpoint, segments) == 3920 &&
              offsetof(aq_endpoint, segment_shift) == 3924 && offsetof(aq_endpoint, windows) == 3928 &&
              offsetof(aq_endpoint, value_windows) == 3936 && offsetof(aq_endpoint, rows) == 3944 &&
              offsetof(aq_endpoint, value_rows) == 4008 && sizeof(aq_endpoint) == 4072);
static_assert(offsetof(aq_window, base) == 0 && offsetof(aq_window, bytes) == 8 && sizeof(aq_window) == 16);
static_assert(sizeof(aq_event) == 8 && sizeof(aq_shared_event) == 8 && sizeof(aq_ptr) == 16);

// What inline functions of C read as plain words are atomics here, of the same size and without a lock.
static_assert(sizeof(Window) == sizeof(aq_window) && alignof(Window) == alignof(aq_window));
static_assert(offsetof(Window, base) == offsetof(aq_window, base));
static_assert(offsetof(Window, bytes) == offsetof(aq_window, bytes));
static_assert(sizeof(Window::base) == 8 && decltype(Window::base)::is_always_lock_free);
static_assert(sizeof(Window::bytes) == 8 && decltype(Window::bytes)::is_always_lock_free);
static_assert(std::is_standard_layout_v<OpFace> && offsetof(OpFace, done) == 0 && sizeof(OpFace::done) == 4);
static_assert(alignof(OpFace) > 1, "aq_done takes odd words for outcomes");

}  // namespace aqueduct::detail

namespace aqueduct::c {
namespace {

constexpr aq_ptr kPlace = std::bit_cast<aq_ptr>(GlobalPtr<std::byte>(1, 2, 3));
static_assert(kPlace.rank == 1 && kPlace.offset == 2 && kPlace.segment == 3);
static_assert(alignof(GlobalPtr<std::byte>) == alignof(aq_ptr));

constexpr bool same(int plain_number, ErrorCode code) { return plain_number == static_cast<int>(code); }
static_assert(same(AQ_OK, ErrorCode::ok) && same(AQ_INVALID_ARGUMENT, ErrorCode::invalid_argument) &&
              same(AQ_OUT_OF_RANGE, ErrorCode::out_of_range) && same(AQ_MISALIGNED, ErrorCode::misaligned) &&
              same(AQ_TOO_LARGE, ErrorCode::too_large) && same(AQ_WRONG_HANDLER, ErrorCode::wrong_handler) &&
              same(AQ_IN_HANDLER, ErrorCode::in_handler) && same(AQ_REFUSED, ErrorCode::refused) &&
              same(AQ_PEER_LOST, ErrorCode::peer_lost) && same(AQ_TIMED_OUT, ErrorCode::timed_out) &&
              same(AQ_NO_MEMORY, ErrorCode::no_memory) && same(AQ_NO_SPACE, ErrorCode::no_space) &&
              same(AQ_BAD_SETTING, ErrorCode::bad_setting) &&
              same(AQ_VERSION_MISMATCH, ErrorCode::version_mismatch) &&
              same(AQ_BOOTSTRAP_FAILED, ErrorCode::bootstrap_failed) &&
              same(AQ_NOT_SUPPORTED, ErrorCode::not_supported) &&
              same(AQ_NETWORK_FAILED, ErrorCode::network_failed) && same(AQ_CLOSED, ErrorCode::closed) &&
              same(AQ_MISMATCH, ErrorCode::mismatch) && same(AQ_INTERNAL, ErrorCode::internal));
static_assert(AQ_NO_RANK == kNoRank && AQ_ANY_RANK == kAnyRank);
static_assert(AQ_VERSION == kVersionMajor * 10000 + kVersionMinor * 100 + kVersionPatch);
static_assert(AQ_FOREVER == std::chrono::nanoseconds::max().count());

constexpr bool same(int plain_number, AtomicOp op) { return plain_number == static_cast<int>(op); }
static_assert(same(AQ_LOAD, AtomicOp::load) && same(AQ_STORE, AtomicOp::store) &&
              same(AQ_ADD, AtomicOp::add) && same(AQ_AND, AtomicOp::bit_and) &&
              same(AQ_OR, AtomicOp::bit_or) && same(AQ_XOR, AtomicOp::bit_xor) &&
              same(AQ_MIN, AtomicOp::min) && same(AQ_MAX, AtomicOp::max) && same(AQ_SWAP, AtomicOp::swap) &&
              same(AQ_COMPARE_SWAP, AtomicOp::compare_swap) && same(AQ_MULTIPLY, AtomicOp::multiply));
constexpr bool same(int plain_number, AtomicType type) { return plain_number == static_cast<int>(type); }
static_assert(same(AQ_I32, AtomicType::i32) && same(AQ_U32, AtomicType::u32) &&
              same(AQ_I64, AtomicType::i64) && same(AQ_U64, AtomicType::u64) &&
              same(AQ_F32, AtomicType::f32) && same(AQ_F64, AtomicType::f64));
constexpr bool same(int plain_number, AtomicFavour favour) {
  return plain_number == static_cast<int>(favour);
}
static_assert(same(AQ_FAVOUR_REMOTE, AtomicFavour::remote) && same(AQ_FAVOUR_NEAR, AtomicFavour::near));

constexpr bool same(int plain_number, AmCategory category) {
  return plain_number == static_cast<int>(category);
}
static_assert(same(AQ_SHORT_REQUEST, AmCategory::short_request) &&
              same(AQ_MEDIUM_REQUEST, AmCategory::medium_request) &&
              same(AQ_LONG_REQUEST, AmCategory::long_request) &&
              same(AQ_SHORT_REPLY, AmCategory::short_reply) &&
              same(AQ_MEDIUM_REPLY, AmCategory::medium_reply) && same(AQ_LONG_REPLY, AmCategory::long_reply));
constexpr bool same(int plain_number, Threads threads) { return plain_number == static_cast<int>(threads); }
static_assert(same(AQ_THREADS_SINGLE, Threads::single) && same(AQ_THREADS_SERIALIZED, Threads::serialized) &&
              same(AQ_THREADS_MULTIPLE, Threads::multiple));
constexpr bool same(int plain_number, SignalOp op) { return plain_number == static_cast<int>(op); }
static_assert(same(AQ_SIGNAL_ADD, SignalOp::add) && same(AQ_SIGNAL_SET, SignalOp::set));
constexpr bool same(int plain_number, Comparison how) { return plain_number == static_cast<int>(how); }
static_assert(same(AQ_EQUAL, Comparison::equal) && same(AQ_NOT_EQUAL, Comparison::not_equal) &&
              same(AQ_LESS, Comparison::less) && same(AQ_LESS_EQUAL, Comparison::less_equal) &&
              same(AQ_GREATER, Comparison::greater) && same(AQ_GREATER_EQUAL, Comparison::greater_equal));

constexpr bool same(int plain_number, Collective operation) {
  return plain_number == static_cast<int>(operation);
}
static_assert(same(AQ_COLL_BARRIER, Collective::barrier) && same(AQ_COLL_BROADCAST, Collective::broadcast) &&
              same(AQ_COLL_SCATTER, Collective::scatter) && same(AQ_COLL_GATHER, Collective::gather) &&
              same(AQ_COLL_ALL_GATHER, Collective::all_gather) &&
              same(AQ_COLL_ALL_TO_ALL, Collective::all_to_all) && same(AQ_COLL_REDUCE, Collective::reduce) &&
              same(AQ_COLL_ALL_REDUCE, Collective::all_reduce) &&
              same(AQ_COLL_REDUCE_SCATTER, Collective::reduce_scatter) &&
              same(AQ_COLL_SCAN, Collective::scan) && same(AQ_COLL_EXSCAN, Collective::exscan) &&
              same(AQ_COLL_PERMUTE, Collective::permute) && same(AQ_COLL_SCATTER_V, Collective::scatter_v) &&
              same(AQ_COLL_GATHER_V, Collective::gather_v) &&
              same(AQ_COLL_ALL_GATHER_V, Collective::all_gather_v) &&
              same(AQ_COLL_ALL_TO_ALL_V, Collective::all_to_all_v));
constexpr bool same(int plain_number, ElementType type) { return plain_number == static_cast<int>(type); }
static_assert(same(AQ_ELEMENT_BYTES, ElementType::bytes) && same(AQ_ELEMENT_I8, ElementType::i8) &&
              same(AQ_ELEMENT_I16, ElementType::i16) && same(AQ_ELEMENT_I32, ElementType::i32) &&
              same(AQ_ELEMENT_I64, ElementType::i64) && same(AQ_ELEMENT_U8, ElementType::u8) &&
              same(AQ_ELEMENT_U16, ElementType::u16) && same(AQ_ELEMENT_U32, ElementType::u32) &&
              same(AQ_ELEMENT_U64, ElementType::u64) && same(AQ_ELEMENT_HALF, ElementType::half) &&
              same(AQ_ELEMENT_BFLOAT16, ElementType::bfloat16) && same(AQ_ELEMENT_F32, ElementType::f32) &&
              same(AQ_ELEMENT_F64, ElementType::f64) &&
              same(AQ_ELEMENT_COMPLEX_F32, ElementType::complex_f32) &&
              same(AQ_ELEMENT_COMPLEX_F64, ElementType::complex_f64) &&
              same(AQ_ELEMENT_I32_INDEX, ElementType::i32_index) &&
              same(AQ_ELEMENT_I64_INDEX, ElementType::i64_index) &&
              same(AQ_ELEMENT_F32_INDEX, ElementType::f32_index) &&
              same(AQ_ELEMENT_F64_INDEX, ElementType::f64_index));
constexpr bool same(int plain_number, ReduceOp op) { return plain_number == static_cast<int>(op); }
static_assert(same(AQ_REDUCE_SUM, ReduceOp::sum) && same(AQ_REDUCE_PRODUCT, ReduceOp::product) &&
              same(AQ_REDUCE_MIN, ReduceOp::min) && same(AQ_REDUCE_MAX, ReduceOp::max) &&
              same(AQ_REDUCE_BIT_AND, ReduceOp::bit_and) && same(AQ_REDUCE_BIT_OR, ReduceOp::bit_or) &&
              same(AQ_REDUCE_BIT_XOR, ReduceOp::bit_xor) &&
              same(AQ_REDUCE_LOGICAL_AND, ReduceOp::logical_and) &&
              same(AQ_REDUCE_LOGICAL_OR, ReduceOp::logical_or) &&
              same(AQ_REDUCE_LOGICAL_XOR, ReduceOp::logical_xor) &&
              same(AQ_REDUCE_MIN_INDEX, ReduceOp::min_index) &&
              same(AQ_REDUCE_MAX_INDEX, ReduceOp::max_index) && same(AQ_REDUCE_USER, ReduceOp::user));
constexpr bool same(int plain_number, ReduceOrder order) { return plain_number == static_cast<int>(order); }
static_assert(same(AQ_ORDER_ANY, ReduceOrder::any) &&
              same(AQ_ORDER_SAME_EVERYWHERE, ReduceOrder::same_everywhere) &&
              same(AQ_ORDER_EXACT, ReduceOrder::exact));
constexpr bool same(int plain_number, detail::CollBuffer::Where where) {
  return plain_number == static_cast<int>(where);
}
static_assert(same(AQ_BUFFER_NONE, detail::CollBuffer::Where::nowhere) &&
              same(AQ_BUFFER_MINE, detail::CollBuffer::Where::mine) &&
              same(AQ_BUFFER_ON_ALL, detail::CollBuffer::Where::common) &&
              same(AQ_BUFFER_EACH, detail::CollBuffer::Where::each));

/// Elements of a user's buffer are used as they lie.
template <class Plain, class T>
constexpr bool same_layout() {
  return sizeof(Plain) == sizeof(T) && sizeof(T) == 16 && alignof(Plain) == alignof(T) &&
         offsetof(Plain, value) == offsetof(T, value) && offsetof(Plain, index) == offsetof(T, index);
}
static_assert(same_layout<aq_i32_index, WithIndex<std::int32_t>>());
static_assert(same_layout<aq_i64_index, WithIndex<std::int64_t>>());
static_assert(same_layout<aq_f32_index, WithIndex<float>>());
static_assert(same_layout<aq_f64_index, WithIndex<double>>());

// Lists of these are passed on as they lie.
static_assert(sizeof(aq_piece) == sizeof(Piece) && offsetof(aq_piece, offset) == offsetof(Piece, offset) &&
              offsetof(aq_piece, bytes) == offsetof(Piece, bytes));
static_assert(sizeof(aq_dimension) == sizeof(Dimension) &&
              offsetof(aq_dimension, count) == offsetof(Dimension, count) &&
              offsetof(aq_dimension, stride) == offsetof(Dimension, stride));
static_assert(sizeof(aq_rank_range) == sizeof(RankRange) && alignof(aq_rank_range) == alignof(RankRange) &&
              offsetof(aq_rank_range, first) == offsetof(RankRange, first) &&
              offsetof(aq_rank_range, last) == offsetof(RankRange, last) &&
              offsetof(aq_rank_range, stride) == offsetof(RankRange, stride));
constexpr bool same(int plain_number, Likeness how) { return plain_number == static_cast<int>(how); }
static_assert(same(AQ_LIKENESS_SAME, Likeness::same) && same(AQ_LIKENESS_REORDERED, Likeness::reordered) &&
              same(AQ_LIKENESS_DIFFERENT, Likeness::different));

}  // namespace
}  // namespace aqueduct::c
