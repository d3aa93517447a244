#pragma once

#include <aqueduct/coll_types.hpp>
#include <aqueduct/global_ptr.hpp>
#include <aqueduct/segment.hpp>
#include <aqueduct/team.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

// Collective operations: all members of a team call the same function, in the same order.
//
// Each operation has three forms: `broadcast` returns when it is over; `broadcast_nb` returns an Event; `broadcast_plan`
// binds the arguments to a CollPlan, which can be started many times. Several may be in flight on a team, and on several
// teams; they need progress, but no thread inside a call.
//
// Buffers. A member passes memory of its own: any contiguous range of T, in a segment or not. Or all members pass places
// that all of them know (on_all): then members can access each other's buffers directly, with fewer copies. Both buffers
// of a call are of the same kind. A call with one buffer works in place.
//
// Completion: local, as CollOptions::out says. Buffers may be touched again when the call returns, or the Event is done.
// Errors:     common to all calls below. invalid_argument (root, counts or buffers that do not fit, buffers that overlap
//             in part, an operator that the type does not have, a forced algorithm that cannot do it), out_of_range (a
//             place outside its segment), in_handler, closed (the team has ended), peer_lost (a member is lost: all
//             operations of the team end so, on all members), mismatch (members have made different calls, or a member
//             has refused its own; the log names both calls, and the team cannot be used again), timed_out,
//             refused (an Event: AQUEDUCT_OPERATIONS events are held), no_memory (the team has no scratch).
// Cost:       docs/collectives.md; Team::explain says which algorithm would run.
// Source:     GASNet-EX and MPI-4 for names; Nishtala's thesis (2009) for the sync modes.

namespace aqueduct {

/// Places of `count` elements that all members know: one for each member.
///
/// Lifetime: of a list of pointers, until the operation is over.
template <class T>
struct OnAll {
  SegmentId segment = 0;
  std::uint64_t offset = 0;  ///< in bytes, the same on all members
  std::uint64_t count = 0;
  const GlobalPtr<T>* each = nullptr;  ///< if set: the place of each member, in team order
};
/// The same range of a segment on all members: elements `first` to `first + count - 1` of the segment seen as an array.
template <class T>
OnAll<T> on_all(const Segment& segment, std::uint64_t first, std::uint64_t count) noexcept {
  return {segment.id(), first * sizeof(T), count, nullptr};
}
template <class T>
OnAll<T> on_all(const SegmentOf<T>& segment, std::uint64_t first, std::uint64_t count) noexcept {
  return {segment.id(), first * sizeof(T), count, nullptr};
}
/// A place for each member, in team order: the same list on all members.
template <class T>
OnAll<T> on_all(std::span<const GlobalPtr<T>> each, std::uint64_t count) noexcept {
  return {0, 0, count, each.data()};
}

namespace detail {

/// A buffer of a collective call, without its type.
struct CollBuffer {
  enum class Where : std::uint8_t { nowhere, mine, common, each };
  Where where = Where::nowhere;
  void* memory = nullptr;  ///< of `mine`
  const void* each = nullptr;
  SegmentId segment = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A collective call, without types.
struct CollCall {
  Collective operation = Collective::barrier;
  ElementType type = ElementType::bytes;
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
  out.bytes = std::ranges::size(range) * sizeof(std::ranges::range_value_t<B>);
  return out;
}
template <class T>
CollBuffer coll_buffer(const OnAll<T>& place) noexcept {
  CollBuffer out;
  out.where = place.each != nullptr ? CollBuffer::Where::each : CollBuffer::Where::common;
  out.each = place.each;
  out.segment = place.segment;
  out.offset = place.offset;
  out.bytes = place.count * sizeof(T);
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

/// A collective call whose arguments are bound: it can be started many times. Starting, binding and ending a plan are
/// calls in the team's order: all members make the same ones. Binding and ending send nothing.
///
/// Lifetime: at most that of its team. A plan that is destroyed without `end` keeps its scratch until the team ends.
class [[nodiscard]] CollPlan {
 public:
  CollPlan() noexcept = default;
  CollPlan(CollPlan&& other) noexcept;
  CollPlan& operator=(CollPlan&& other) noexcept;
  ~CollPlan();

  /// Begins the operation on the buffers' present contents.
  /// Errors: as the operation; invalid_argument (the last start is not over, or there is no operation).
  Event start() noexcept;
  /// Begins it and waits.
  Status run() noexcept;
  /// Gives back what the plan holds. Errors: invalid_argument (it is running), closed.
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

// The three forms of an operation, from the call that it makes. `name(…)`, `name_nb(…)` and `name_plan(…)` take the same
// arguments.
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

/// The root's `data` becomes that of all members.
///
/// Shape: the same number of elements on all members. With two buffers the root's input is `in`, and all have an `out`;
///        the other members' `in` may be empty.
AQUEDUCT_COLL_FORMS_OF((CollOutput B), broadcast,
                       (Team & team, B&& data, Rank root = 0, const CollOptions& options = {}),
                       detail::coll_call_in_place(Collective::broadcast, data, root, {}, options))
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), broadcast,
                       (Team & team, I&& in, O&& out, Rank root, const CollOptions& options = {}),
                       detail::coll_call(Collective::broadcast, in, out, root, {}, options))

/// Block i of the root's `in` becomes member i's `out`.
///
/// Shape: `out` has n elements on all members; the root's `in` has n × P, the others' may be empty.
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), scatter,
                       (Team & team, I&& in, O&& out, Rank root = 0, const CollOptions& options = {}),
                       detail::coll_call(Collective::scatter, in, out, root, {}, options))

/// Member i's `in` becomes block i of the root's `out`.
///
/// Shape: `in` has n elements on all members; the root's `out` has n × P, the others' may be empty.
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), gather,
                       (Team & team, I&& in, O&& out, Rank root = 0, const CollOptions& options = {}),
                       detail::coll_call(Collective::gather, in, out, root, {}, options))

/// Member i's `in` becomes block i of every member's `out`. In place, the input is my block of `data`.
///
/// Shape: `in` has n elements, `out` n × P.
AQUEDUCT_COLL_FORMS_OF((CollOutput B), all_gather, (Team & team, B&& data, const CollOptions& options = {}),
                       detail::coll_call_in_place(Collective::all_gather, data, 0, {}, options))
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), all_gather,
                       (Team & team, I&& in, O&& out, const CollOptions& options = {}),
                       detail::coll_call(Collective::all_gather, in, out, 0, {}, options))

/// Block j of member i's `in` becomes block i of member j's `out`.
///
/// Shape: `in` and `out` have n × P elements.
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), all_to_all,
                       (Team & team, I&& in, O&& out, const CollOptions& options = {}),
                       detail::coll_call(Collective::all_to_all, in, out, 0, {}, options))

/// The root's `out` becomes x0 ∘ x1 ∘ …, element by element, of the members' `in`.
///
/// Shape: `in` has n elements on all members, and so has the root's `out`; the others' may be empty.
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), reduce,
                       (Team & team, I&& in, O&& out, Reducer reducer, Rank root = 0,
                        const CollOptions& options = {}),
                       detail::coll_call(Collective::reduce, in, out, root, reducer, options))

/// Every member's `out` becomes x0 ∘ x1 ∘ …, element by element, of the members' `in`.
///
/// Shape: `in` and `out` have n elements.
AQUEDUCT_COLL_FORMS_OF((CollOutput B), all_reduce,
                       (Team & team, B&& data, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call_in_place(Collective::all_reduce, data, 0, reducer, options))
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), all_reduce,
                       (Team & team, I&& in, O&& out, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call(Collective::all_reduce, in, out, 0, reducer, options))

/// Member i's `out` becomes block i of x0 ∘ x1 ∘ … of the members' `in`.
///
/// Shape: `in` has n × P elements, `out` n.
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), reduce_scatter,
                       (Team & team, I&& in, O&& out, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call(Collective::reduce_scatter, in, out, 0, reducer, options))

/// Member i's `out` becomes x0 ∘ … ∘ xi of the members' `in`.
///
/// Shape: `in` and `out` have n elements.
AQUEDUCT_COLL_FORMS_OF((CollOutput B), scan,
                       (Team & team, B&& data, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call_in_place(Collective::scan, data, 0, reducer, options))
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), scan,
                       (Team & team, I&& in, O&& out, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call(Collective::scan, in, out, 0, reducer, options))

/// Member i's `out` becomes x0 ∘ … ∘ x(i-1) of the members' `in`. Member 0's `out` stays as it was.
///
/// Shape: `in` and `out` have n elements.
AQUEDUCT_COLL_FORMS_OF((CollOutput B), exscan,
                       (Team & team, B&& data, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call_in_place(Collective::exscan, data, 0, reducer, options))
AQUEDUCT_COLL_FORMS_OF((CollBufferLike I, CollOutput O), exscan,
                       (Team & team, I&& in, O&& out, Reducer reducer, const CollOptions& options = {}),
                       detail::coll_call(Collective::exscan, in, out, 0, reducer, options))

#undef AQUEDUCT_COLL_FORMS_OF
#undef AQUEDUCT_COLL_UNPACK

/// Adds an operator of the program's own under a number, for collective calls of this endpoint. All members of a team
/// that use it add it under the same number, with the same element size and commutativity.
///
/// Errors: invalid_argument (no function, no bytes, or the number has another operator), no_memory.
Status add_operator(Endpoint& ep, std::uint32_t number, const UserOperator& with) noexcept;

}  // namespace aqueduct
