#pragma once

#include <aqueduct/byte_count.hpp>
#include <aqueduct/coll_types.hpp>
#include <aqueduct/global_ptr.hpp>
#include <aqueduct/segment.hpp>
#include <aqueduct/team.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

// Collective operations: all members of a team call the same function, in the same order.
//
// P is the number of members. A block is n elements, the same n on all members; n may be 0. Member i is the one with
// Team::index() i. Operations whose blocks may have different lengths, and permute, are in coll_v.hpp.
//
// Forms:      `broadcast` waits and returns a Status. `broadcast_nb` returns an Event. `broadcast_plan` binds the
//             arguments to a CollPlan, which can be started many times. Several operations may be in flight on a
//             team, and on several teams. They need progress, but no thread inside a call.
// Buffers:    memory of this member, which is any contiguous range of T, in a segment or not. Or places that all
//             members know (on_all): then members can access each other's buffers directly, with fewer copies. Both
//             buffers of a call are of one kind. A call with one buffer works in place.
// Completion: local, as CollOptions::out says. With the default the outputs of all members are final.
// Lifetime:   buffers, and a list of places, until the call has returned or the Event is done; of a plan, until its
//             end. After timed_out: see CollOptions::limit.
// Errors:     the same for all calls below.
//             invalid_argument  root, counts or buffers that do not fit; buffers that overlap in part; an operator
//                               that the type does not have; a forced algorithm that cannot do it; a forked child
//             out_of_range      a place outside its segment
//             closed            the team has ended, or a segment was released
//             in_handler        called inside a handler; a blocking call inside a continuation
//             peer_lost         a member is lost. All operations of the team end so, on all members
//             mismatch          members have made different calls, or this call was refused by some members only. The
//                               log names both calls, and the team cannot be used for collective calls again. Over a
//                               network whose signals carry no marks (ofi, but for checked builds) calls that differ in
//                               length or operator alone may end in ok, with wrong contents
//             timed_out         of a blocking call with a limit
//             refused           of an Event: AQUEDUCT_OPERATIONS of them are held. Nothing has happened
//             no_memory         the team has no scratch, or not enough for one element; with a rank: that member got
//                               no memory for its call, and the team is broken
//             If all members make the same wrong call, each gets the same error and the team can still be used.
// Cost:       given for the algorithms that run unless a setting names another one; Team::explain says which. "Short"
//             is up to some KiB. Sync::all adds up to ceil(log2 P) rounds of signals before and after. A team of one
//             member copies. docs/collectives.md has the rest.
// Source:     GASNet-EX and MPI-4 for names; Nishtala's thesis (2009) for the sync modes.

namespace aqueduct {

namespace detail {

/// The length of a list of places, if the caller has not said it.
inline constexpr std::uint64_t kUnknownMembers = std::numeric_limits<std::uint64_t>::max();

}  // namespace detail

/// Places of `count` elements that all members know: one for each member. All members pass the same, also those that
/// need no buffer.
///
/// Lifetime: of a list of pointers, until the operation is over, or the plan has ended.
template <class T>
struct OnAll {
  SegmentId segment = 0;
  std::uint64_t offset = 0;  ///< in bytes, the same on all members
  std::uint64_t count = 0;
  const GlobalPtr<T>* each = nullptr;  ///< of a list: the place of each member, in team order
  bool listed = false;  ///< `each` is the list, also if it is empty; segment and offset mean nothing
  std::uint64_t members = detail::kUnknownMembers;  ///< of a list: its length, which must be the team's size
};
/// The same range of a segment on all members: elements `first` to `first + count - 1` of each part, seen as an array
/// of T.
///
/// Shape:  `count` is that of the operation's buffer: n, or n × P.
/// Errors: none here; the call checks this member's part.
template <class T>
OnAll<T> on_all(const Segment& segment, std::uint64_t first, std::uint64_t count) noexcept {
  return {segment.id(), detail::byte_count(first, sizeof(T)), count, nullptr, false, detail::kUnknownMembers};
}
template <class T>
OnAll<T> on_all(const SegmentOf<T>& segment, std::uint64_t first, std::uint64_t count) noexcept {
  return {segment.id(), detail::byte_count(first, sizeof(T)), count, nullptr, false, detail::kUnknownMembers};
}
/// A place for each member, in team order: the same list on all members, as long as the team. Each has room for `count`
/// elements.
template <class T>
OnAll<T> on_all(std::span<const GlobalPtr<T>> each, std::uint64_t count) noexcept {
  return {0, 0, count, each.data(), true, each.size()};
}

namespace detail {

/// A buffer of a collective call, without its type.
struct CollBuffer {
  enum class Where : std::uint32_t { nowhere, mine, common, each };
  Where where = Where::nowhere;
  SegmentId segment = 0;  ///< of `common`
  std::uint64_t bytes = 0;
  void* memory = nullptr;  ///< of `mine`
  const void* each = nullptr;
  std::uint64_t members = kUnknownMembers;  ///< of `each`: the number of places
  std::uint64_t offset = 0;                 ///< of `common`
};

/// A collective call, without types. The first members fill a word, which is compared as one.
struct CollCall {
  Collective operation = Collective::barrier;
  ElementType type = ElementType::bytes;
  std::uint16_t unused = 0;
  std::uint32_t element = 1;  ///< bytes
  Rank root = 0;
  CollBuffer in;  ///< nowhere, with an `out`: in place
  CollBuffer out;
  Reducer reducer;
  CollOptions options;
};

template <class T>
struct OnAllElement : std::false_type {};
template <class T>
struct OnAllElement<OnAll<T>> : std::true_type {
  using type = T;
};

template <class B>
concept CollRange = std::ranges::contiguous_range<B> && std::ranges::sized_range<B> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<B>>;
template <class B>
concept CollPlace = OnAllElement<std::remove_cvref_t<B>>::value;

template <class B>
struct CollElementOf {
  using type = std::ranges::range_value_t<B>;
};
template <CollPlace B>
struct CollElementOf<B> {
  using type = std::remove_const_t<typename OnAllElement<std::remove_cvref_t<B>>::type>;
};
template <class B>
using CollElement = typename CollElementOf<std::remove_cvref_t<B>>::type;

template <CollRange B>
CollBuffer coll_buffer(B& range) noexcept {
  CollBuffer out;
  out.where = CollBuffer::Where::mine;
  out.memory = const_cast<void*>(static_cast<const void*>(std::ranges::data(range)));
  out.bytes = byte_count(std::ranges::size(range), sizeof(std::ranges::range_value_t<B>));
  return out;
}
template <class T>
CollBuffer coll_buffer(const OnAll<T>& place) noexcept {
  CollBuffer out;
  const bool listed = place.listed || place.each != nullptr;
  out.where = listed ? CollBuffer::Where::each : CollBuffer::Where::common;
  out.each = place.each;
  out.members = place.members;
  out.segment = place.segment;
  out.offset = place.offset;
  out.bytes = byte_count(place.count, sizeof(T));
  return out;
}

}  // namespace detail

/// A buffer of a collective call: a contiguous range that outlives the call, or places that all members know.
template <class B>
concept CollBufferLike = detail::CollPlace<B> ||
    (detail::CollRange<std::remove_reference_t<B>>&& std::ranges::borrowed_range<B>);
/// A buffer that is written.
template <class B>
concept CollOutput = CollBufferLike<B> &&
    (detail::CollPlace<B> || !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<B>>>);

/// A collective call whose arguments are bound: they are checked, and the algorithm is chosen, once. It can be started
/// many times, one start after the other. Binding, starting and ending a plan are calls in the team's order: all
/// members make the same ones.
///
/// Lifetime: a plan may be destroyed before or after its team and its job. One that is destroyed without `end` keeps
///           what it holds until the team ends. What its arguments name is needed until the plan has ended or is
///           destroyed, and no start is under way: buffers, lists of places, and the segments in which they lie.
/// Errors:   of binding, those of the operation.
/// Cost:     binding and ending send nothing. A start saves the checks.
class [[nodiscard]] CollPlan {
 public:
  CollPlan() noexcept = default;
  CollPlan(CollPlan&& other) noexcept;
  CollPlan& operator=(CollPlan&& other) noexcept;
  ~CollPlan();

  /// Begins the operation on the buffers' present contents. Completion: as CollOptions::out says.
  /// Errors: those of the operation; invalid_argument (the last start is not over: a call that this member refuses, of which
  ///         the others are told; the plan is empty or has ended), closed (the team has ended).
  Event start() noexcept;
  /// Begins it and waits. Errors: those of `start`; timed_out, with the limit of the options that the plan was made
  /// with: the operation goes on, and to call this again before it is over is a second start.
  Status run() noexcept;
  /// Gives back what the plan holds; the plan is then empty. To bind and to end a plan sends nothing, but both are calls
  /// of the team: all members make them in the same order among its calls. A plan that is destroyed without `end` makes no
  /// call, and its place in the team's memory stays taken until the team ends.
  /// Errors: invalid_argument (the last start is not over; the plan is empty), closed (the team has ended), in_handler;
  ///         mismatch (another member has made another call; the plan keeps what it holds).
  Status end() noexcept;

  explicit CollPlan(void* record) noexcept : record_(record) {}

 private:
  void* record_ = nullptr;
};

namespace detail {

Status coll_run(Team&, const CollCall&) noexcept;
Event coll_begin(Team&, const CollCall&) noexcept;
Result<CollPlan> coll_bind(Team&, const CollCall&) noexcept;

template <class In, class Out>
CollCall coll_call(Collective operation, In& in, Out& out, Rank root, Reducer reducer,
                   const CollOptions& options) noexcept {
  using T = CollElement<Out>;
  static_assert(std::is_same_v<CollElement<In>, T>, "input and output have elements of the same type");
  CollCall call;
  call.operation = operation;
  call.type = element_type<T>();
  call.element = sizeof(T);
  call.root = root;
  call.in = coll_buffer(in);
  call.out = coll_buffer(out);
  call.reducer = reducer;
  call.options = options;
  return call;
}
template <class Data>
CollCall coll_call_in_place(Collective operation, Data& data, Rank root, Reducer reducer,
                            const CollOptions& options) noexcept {
  CollCall call = coll_call(operation, data, data, root, reducer, options);
  call.in = {};
  return call;
}

}  // namespace detail

// The three forms of an operation, from the call that it makes. `name(…)`, `name_nb(…)` and `name_plan(…)` take the
// same arguments.
#define AQUEDUCT_COLL_FORMS_OF(arguments, name, parameters, ...) \
  template <AQUEDUCT_COLL_UNPACK arguments>                      \
  inline Status name parameters noexcept {                       \
    return detail::coll_run(team, __VA_ARGS__);                  \
  }                                                              \
  template <AQUEDUCT_COLL_UNPACK arguments>                      \
  inline Event name##_nb parameters noexcept {                   \
    return detail::coll_begin(team, __VA_ARGS__);                \
  }                                                              \
  template <AQUEDUCT_COLL_UNPACK arguments>                      \
  inline Result<CollPlan> name##_plan parameters noexcept {      \
    return detail::coll_bind(team, __VA_ARGS__);                 \
  }
#define AQUEDUCT_COLL_UNPACK(...) __VA_ARGS__

/// The root's `data` becomes that of all members. With two buffers the root's `in` becomes every member's `out`, the
/// root's own too.
///
/// Shape:    `data` and `out` have n elements, on all members. The root's `in` has n, the others' may be empty.
/// In place: with one buffer; at the root `in` and `out` may be the same range.
/// Cost:     P - 1 messages in about log4(P) rounds if short. A long block is cut into segments, and each member
///           sends it about once.
AQUEDUCT_COLL_FORMS_OF((CollOutput B), broadcast,
                       (Team & team, B&& data, Rank root = 0, const CollOptions& options = {}),
                       detail::coll_call_in_place(Collective::broadcast, data, root, {}, options))
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), broadcast,
                       (Team & team, I&& in, O&& out, Rank root, const CollOptions& options = {}),
                       detail::coll_call(Collective::broadcast, in, out, root, {}, options))

/// Block i of the root's `in` becomes member i's `out`.
///
/// Shape:    `out` has n elements, on all members. The root's `in` has n × P, the others' may be empty.
/// In place: at the root `out` may be its own block of `in`.
/// Cost:     P - 1 messages of the root; about log4(P) rounds if blocks are short and P > 8.
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), scatter,
                       (Team & team, I&& in, O&& out, Rank root = 0, const CollOptions& options = {}),
                       detail::coll_call(Collective::scatter, in, out, root, {}, options))

/// Member i's `in` becomes block i of the root's `out`.
///
/// Shape:    `in` has n elements, on all members. The root's `out` has n × P, the others' may be empty.
/// In place: at the root `in` may be its own block of `out`.
/// Cost:     P - 1 messages to the root; about log4(P) rounds if blocks are short and P > 8.
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), gather,
                       (Team & team, I&& in, O&& out, Rank root = 0, const CollOptions& options = {}),
                       detail::coll_call(Collective::gather, in, out, root, {}, options))

/// Member i's `in` becomes block i of every member's `out`.
///
/// Shape:    `in` has n elements, `out` and `data` have n × P, on all members.
/// In place: with one buffer, where the input is my block of `data`; `in` may also be my block of `out`.
/// Cost:     ceil(log2 P) rounds if short. Each member sends P - 1 blocks.
AQUEDUCT_COLL_FORMS_OF((CollOutput B), all_gather, (Team & team, B&& data, const CollOptions& options = {}),
                       detail::coll_call_in_place(Collective::all_gather, data, 0, {}, options))
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), all_gather,
                       (Team & team, I&& in, O&& out, const CollOptions& options = {}),
                       detail::coll_call(Collective::all_gather, in, out, 0, {}, options))

/// Block j of member i's `in` becomes block i of member j's `out`.
///
/// Shape:    `in` and `out` have n × P elements, on all members.
/// In place: no.
/// Cost:     P - 1 messages of each member. If blocks have at most 512 bytes and P > 8, rounds in which blocks travel
///           together over several members: ceil(log2 P) for up to 64 bytes.
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), all_to_all,
                       (Team & team, I&& in, O&& out, const CollOptions& options = {}),
                       detail::coll_call(Collective::all_to_all, in, out, 0, {}, options))

/// The root's `out` becomes x0 ∘ x1 ∘ …, element by element, of the members' `in`.
///
/// Shape:    `in` has n elements, on all members, and so has the root's `out`. The others' `out` may be empty.
/// In place: at the root `in` and `out` may be the same range.
/// Cost:     P - 1 messages in about log4(P) rounds if short. A long vector is cut into segments, and each member
///           sends it once.
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), reduce,
                       (Team & team, I&& in, O&& out, Reducer reducer, Rank root = 0,
                        const CollOptions& options = {}),
                       detail::coll_call(Collective::reduce, in, out, root, reducer, options))

/// Every member's `out` becomes x0 ∘ x1 ∘ …, element by element, of the members' `in`. Members may get different bits
/// unless the order is ReduceOrder::same_everywhere or `exact`.
///
/// Shape:    `in`, `out` and `data` have n elements, on all members.
/// In place: with one buffer, or `in` and `out` are the same range.
/// Cost:     about log2(P) rounds of the whole vector if short. If long, 2 ceil(log2 P) rounds, in which each member
///           sends the vector about twice.
AQUEDUCT_COLL_FORMS_OF((CollOutput B), all_reduce,
                       (Team & team, B&& data, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call_in_place(Collective::all_reduce, data, 0, reducer, options))
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), all_reduce,
                       (Team & team, I&& in, O&& out, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call(Collective::all_reduce, in, out, 0, reducer, options))

/// Member i's `out` becomes block i of x0 ∘ x1 ∘ … of the members' `in`.
///
/// Shape:    `in` has n × P elements, `out` n, on all members.
/// In place: no.
/// Cost:     each member sends P - 1 blocks; in ceil(log2 P) rounds if blocks are short and P > 8.
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), reduce_scatter,
                       (Team & team, I&& in, O&& out, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call(Collective::reduce_scatter, in, out, 0, reducer, options))

/// Member i's `out` becomes x0 ∘ … ∘ xi of the members' `in`.
///
/// Shape:    `in`, `out` and `data` have n elements, on all members.
/// In place: with one buffer, or `in` and `out` are the same range.
/// Cost:     ceil(log2 P) rounds. If long and P <= 32, each member sends the vector once, to the next one.
AQUEDUCT_COLL_FORMS_OF((CollOutput B), scan,
                       (Team & team, B&& data, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call_in_place(Collective::scan, data, 0, reducer, options))
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), scan,
                       (Team & team, I&& in, O&& out, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call(Collective::scan, in, out, 0, reducer, options))

/// Member i's `out` becomes x0 ∘ … ∘ x(i-1) of the members' `in`. Member 0's `out` stays as it was.
///
/// Shape:    `in`, `out` and `data` have n elements, on all members.
/// In place: with one buffer, or `in` and `out` are the same range.
/// Cost:     as `scan`.
AQUEDUCT_COLL_FORMS_OF((CollOutput B), exscan,
                       (Team & team, B&& data, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call_in_place(Collective::exscan, data, 0, reducer, options))
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), exscan,
                       (Team & team, I&& in, O&& out, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call(Collective::exscan, in, out, 0, reducer, options))

#undef AQUEDUCT_COLL_FORMS_OF
#undef AQUEDUCT_COLL_UNPACK

/// Adds an operator of the program's own under a number, for collective calls of this endpoint. All members of a team
/// that use it add it under the same number, with the same element size and commutativity, before the first call.
/// To add the same operator again does nothing. Sends nothing.
///
/// Lifetime: function and context until the endpoint ends.
/// Errors:   invalid_argument (no function, no bytes, the number has another operator, or a forked child), no_memory.
Status add_operator(Endpoint& ep, std::uint32_t number, const UserOperator& with) noexcept;

}  // namespace aqueduct
