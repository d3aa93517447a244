#pragma once

#include <aqueduct/copy_bytes.hpp>
#include <aqueduct/endpoint.hpp>
#include <aqueduct/group.hpp>

#include <ranges>
#include <span>
#include <type_traits>

namespace aqueduct {

/// When the source buffer of a put may be reused.
enum class SourceReuse : std::uint8_t {
  at_completion,  ///< when the whole operation is done; never costs a copy
  at_return,      ///< when the call returns: the library copies, or waits until the buffer is free
  on_event,  ///< when the Event in PutOptions::source_event is done; without one, when the group's sources are
};

struct PutOptions {
  SourceReuse source = SourceReuse::at_completion;
  /// With SourceReuse::on_event, the call stores the Event of local completion here. It is finished at once if the
  /// source is free when the call returns. Null: Group::source_done() of `group` tells.
  Event* source_event = nullptr;
  /// Returns `refused` instead of waiting for room; nothing has happened then.
  bool immediate = false;
  /// If the target is mapped here, wakes it after the copy: a wait for the bytes (wait_on, Endpoint::wait_until) that
  /// sleeps there ends its sleep at once. Costs a locked instruction and a load if the target is awake. Does not order
  /// this put among others. Over a network it changes nothing, and transfers of pieces (vis.hpp) ignore it.
  bool notify = false;
  /// For the `_nbi` forms: the group that the put joins, in place of the open region or the implicit group.
  Group* group = nullptr;
};

struct GetOptions {
  /// Returns `refused` instead of waiting for room; nothing has happened then.
  bool immediate = false;
  /// For the `_nbi` forms: the group that the get joins, in place of the open region or the implicit group.
  Group* group = nullptr;
};

namespace detail {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// Wakes a rank whose mapped memory was changed with the option `notify`.
[[gnu::cold]] void notify_mapped(Endpoint&, Rank target) noexcept;
// The place comes in parts. If it came as a pointer, g++ 12 would load the two halves of its first word together, also on the way
// to mapped memory, and take them apart there: measured on Zen 5, 0.1 ns of a put of 8 bytes.
[[gnu::cold]] Status put_over_wire(Endpoint&, Rank, SegmentId, std::uint64_t offset, const void* from,
                                   std::size_t bytes) noexcept;
[[gnu::cold]] Event put_nb_over_wire(Endpoint&, Rank, SegmentId, std::uint64_t offset, const void* from,
                                     std::size_t bytes, const PutOptions&) noexcept;
[[gnu::cold]] Status put_nbi_over_wire(Endpoint&, Rank, SegmentId, std::uint64_t offset, const void* from,
                                       std::size_t bytes, const PutOptions&) noexcept;
[[gnu::cold]] Status get_over_wire(Endpoint&, Rank, SegmentId, std::uint64_t offset, void* to,
                                   std::size_t bytes) noexcept;
[[gnu::cold]] Event get_nb_over_wire(Endpoint&, Rank, SegmentId, std::uint64_t offset, void* to,
                                     std::size_t bytes, const GetOptions&) noexcept;
[[gnu::cold]] Status get_nbi_over_wire(Endpoint&, Rank, SegmentId, std::uint64_t offset, void* to,
                                       std::size_t bytes, const GetOptions&) noexcept;

template <class T>
concept Wireable = std::is_trivially_copyable_v<T>;
/// What a put may write: through a pointer to const there are only gets.
template <class T>
concept Writable = Wireable<T> && !std::is_const_v<T>;

/// A sized, contiguous range whose elements outlive the call: an lvalue container, or a view such as std::span.
template <class R>
concept LastingRange =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && std::ranges::borrowed_range<R>;
template <class R>
concept TemporaryRange = std::ranges::contiguous_range<R> && !std::ranges::borrowed_range<R>;

template <class T, class R>
concept RangeOf = std::is_same_v<std::ranges::range_value_t<R>, std::remove_const_t<T>>;

template <class R>
std::size_t size_in_bytes(R& range) noexcept {
  return std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>);
}
/// Called when the bytes have been copied: finishes the Event of the source buffer, if the caller asked for one.
inline void source_is_free(const PutOptions& options) noexcept {
  if (options.source_event != nullptr) [[unlikely]]
    *options.source_event = Event{};
}
/// Whether the options ask for something after the copy. Asked before it: a compiler that knows the options then drops
/// the branch, although they are passed to another function by reference.
inline bool ask_for_more(const PutOptions& options) noexcept {
  return options.source_event != nullptr || options.notify;
}
/// Called when the bytes are in place: does what the options ask for after that.
inline void bytes_are_in_place(Endpoint& ep, Rank target, const PutOptions& options) noexcept {
  source_is_free(options);
  if (options.notify) notify_mapped(ep, target);
}
template <class T>
std::byte* find(Endpoint& ep, GlobalPtr<T> to, std::size_t bytes) noexcept {
  return ep.mapped(to.rank(), to.segment(), to.offset(), bytes);
}
/// As find, for reading a value: see Endpoint::mapped_for_value.
template <class T>
const std::byte* find_value(Endpoint& ep, GlobalPtr<T> from, std::size_t bytes) noexcept {
  return ep.mapped_for_value(from.rank(), from.segment(), from.offset(), bytes);
}
/// Null memory of which bytes would be copied: the cold path refuses it.
inline bool is_missing(const void* local, std::size_t bytes) noexcept {
  return local == nullptr && bytes != 0;
}
/// As find and find_value, for a copy from or to `local`. In checked builds null if that is missing.
template <class T>
std::byte* find_for([[maybe_unused]] const void* local, Endpoint& ep, GlobalPtr<T> to,
                    std::size_t bytes) noexcept {
#ifdef AQUEDUCT_CHECKED
  if (is_missing(local, bytes)) return nullptr;
#endif
  return find(ep, to, bytes);
}
template <class T>
const std::byte* find_value_for([[maybe_unused]] const void* local, Endpoint& ep, GlobalPtr<T> from,
                                std::size_t bytes) noexcept {
#ifdef AQUEDUCT_CHECKED
  if (is_missing(local, bytes)) return nullptr;
#endif
  return find_value(ep, from, bytes);
}
template <class T>
GlobalPtr<std::byte> plain(GlobalPtr<T> p) noexcept {
  return {p.rank(), p.offset(), p.segment()};
}

}  // namespace detail

/// Begins writing `from` into another rank's segment.
///
/// Shape:       `from` is a contiguous range of T; its address is null only with zero bytes. The source and the target are
///              the same, or do not overlap.
/// Completion:  remote: the Event is done when the bytes are in the target's memory. Operations are not ordered; the
///              result of overlapping puts without a wait between them is undefined. Exactly one aligned word (1, 2, 4
///              or 8 bytes) is whole: a reader sees the old value or the new one (docs/memory-model.md, M-1).
/// Lifetime:    `from` until completion, or as PutOptions::source says.
/// Errors:      out_of_range (no such rank or segment, or outside it), refused (immediate, no room), peer_lost,
///              no_memory (this rank gets none: docs/errors.md);
///              in_handler if the target is not mapped here; invalid_argument for a null source, where the target is not
///              mapped here or the build is checked (otherwise the process crashes).
/// Cost:        a copy when the target is mapped here, otherwise one operation of the network; for one word a message
///              and its answer where the network does not promise to store it whole.
template <detail::Writable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Event put_nb(Endpoint& ep, GlobalPtr<T> to, R&& from, const PutOptions& options = {}) noexcept {
  const bool more = detail::ask_for_more(options);
  const std::size_t bytes = detail::size_in_bytes(from);
  if (std::byte* place = detail::find_for(std::ranges::data(from), ep, to, bytes)) [[likely]] {
    detail::put_bytes(place, std::ranges::data(from), bytes);
    if (more) [[unlikely]]
      detail::bytes_are_in_place(ep, to.rank(), options);
    return Event{};
  }
  return detail::put_nb_over_wire(ep, to.rank(), to.segment(), to.offset(), std::ranges::data(from), bytes,
                                  options);
}

/// Writes `from` and waits: put_nb followed by a wait.
///
/// Completion: remote. The source may be reused at return.
/// Errors:     as put_nb.
template <detail::Writable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status put(Endpoint& ep, GlobalPtr<T> to, R&& from) noexcept {
  const std::size_t bytes = detail::size_in_bytes(from);
  if (std::byte* place = detail::find_for(std::ranges::data(from), ep, to, bytes)) [[likely]] {
    detail::put_bytes(place, std::ranges::data(from), bytes);
    return {};
  }
  return detail::put_over_wire(ep, to.rank(), to.segment(), to.offset(), std::ranges::data(from), bytes);
}

/// As put, with options: put_nb followed by a wait. Errors: also refused.
template <detail::Writable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status put(Endpoint& ep, GlobalPtr<T> to, R&& from, const PutOptions& options) noexcept {
  return ep.wait(put_nb(ep, to, from, options));
}

/// As put_nb, with implicit completion: belongs to the group of the options, else to the open access region, else to
/// `wait_implicit`.
///
/// Errors: returned if nothing was begun; a later failure is that of the group. invalid_argument: a group of another
///         endpoint.
template <detail::Writable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status put_nbi(Endpoint& ep, GlobalPtr<T> to, R&& from, const PutOptions& options = {}) noexcept {
  const bool more = detail::ask_for_more(options);
  const std::size_t bytes = detail::size_in_bytes(from);
  if (std::byte* place = detail::find_for(std::ranges::data(from), ep, to, bytes)) [[likely]] {
    detail::put_bytes(place, std::ranges::data(from), bytes);
    if (more) [[unlikely]]
      detail::bytes_are_in_place(ep, to.rank(), options);
    return {};
  }
  return detail::put_nbi_over_wire(ep, to.rank(), to.segment(), to.offset(), std::ranges::data(from), bytes,
                                   options);
}

/// Begins reading from another rank's segment into `to`.
///
/// Shape:       `to` is a contiguous range of T; its address is null only with zero bytes. It and the source are the
///              same, or do not overlap.
/// Completion:  local: the Event is done when `to` holds the bytes. Exactly one aligned word is read as a whole
///              (docs/memory-model.md, M-3).
/// Lifetime:    `to` until completion.
/// Errors, Cost: as put_nb.
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Event get_nb(Endpoint& ep, R&& to, GlobalPtr<T> from, const GetOptions& options = {}) noexcept {
  const std::size_t bytes = detail::size_in_bytes(to);
  if (const std::byte* place = detail::find_for(std::ranges::data(to), ep, from, bytes)) [[likely]] {
    detail::copy_bytes(std::ranges::data(to), place, bytes);
    return Event{};
  }
  return detail::get_nb_over_wire(ep, from.rank(), from.segment(), from.offset(), std::ranges::data(to),
                                  bytes, options);
}

/// Reads into `to` and waits.
///
/// A get from my own memory also makes progress, at most once a microsecond, if other ranks need my processor for their
/// atomics on it. So a loop that polls this memory sees their changes.
///
/// Completion: local.
/// Errors:     as put_nb.
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status get(Endpoint& ep, R&& to, GlobalPtr<T> from) noexcept {
  const std::size_t bytes = detail::size_in_bytes(to);
  if (const std::byte* place = detail::find_value_for(std::ranges::data(to), ep, from, bytes)) [[likely]] {
    detail::copy_bytes(std::ranges::data(to), place, bytes);
    return {};
  }
  return detail::get_over_wire(ep, from.rank(), from.segment(), from.offset(), std::ranges::data(to), bytes);
}

/// As get_nb, with implicit completion. Errors: as put_nbi.
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status get_nbi(Endpoint& ep, R&& to, GlobalPtr<T> from, const GetOptions& options = {}) noexcept {
  const std::size_t bytes = detail::size_in_bytes(to);
  if (const std::byte* place = detail::find_for(std::ranges::data(to), ep, from, bytes)) [[likely]] {
    detail::copy_bytes(std::ranges::data(to), place, bytes);
    return {};
  }
  return detail::get_nbi_over_wire(ep, from.rank(), from.segment(), from.offset(), std::ranges::data(to),
                                   bytes, options);
}

// Temporary containers are refused at compile time: they would be destroyed before the operation completes.
template <class T, detail::TemporaryRange R>
Event put_nb(Endpoint&, GlobalPtr<T>, R&&, const PutOptions& = {}) = delete;
template <class T, detail::TemporaryRange R>
Status put_nbi(Endpoint&, GlobalPtr<T>, R&&, const PutOptions& = {}) = delete;
template <class T, detail::TemporaryRange R>
Event get_nb(Endpoint&, R&&, GlobalPtr<T>, const GetOptions& = {}) = delete;
template <class T, detail::TemporaryRange R>
Status get_nbi(Endpoint&, R&&, GlobalPtr<T>, const GetOptions& = {}) = delete;
template <class T, detail::TemporaryRange R>
Status get(Endpoint&, R&&, GlobalPtr<T>) = delete;

/// A type that can be put and got by value: 1 to 8 bytes, or 16. A value of 16 bytes moves as two words of 8 bytes: a
/// rank that polls it may see one of them changed and the other one not yet.
template <class T>
concept SmallValue = detail::Wireable<T> &&(sizeof(T) <= 8 || sizeof(T) == 16);

namespace detail {
template <class T>
concept WritableValue = SmallValue<T> && Writable<T>;
}  // namespace detail

/// Writes one value of 1–8 or 16 bytes and waits. Completion: remote. Errors: as put.
template <detail::WritableValue T>
inline Status put_value(Endpoint& ep, GlobalPtr<T> to, std::type_identity_t<T> value) noexcept {
  if (std::byte* place = detail::find(ep, to, sizeof(T))) [[likely]] {
    detail::store_value(place, value);
    return {};
  }
  return detail::put_over_wire(ep, to.rank(), to.segment(), to.offset(), &value, sizeof(T));
}

/// Begins writing one value. It is copied at the call, so there is no source buffer to keep. Completion: remote.
/// Errors: as put_nb.
template <detail::WritableValue T>
inline Event put_value_nb(Endpoint& ep, GlobalPtr<T> to, std::type_identity_t<T> value,
                          PutOptions options = {}) noexcept {
  const bool more = detail::ask_for_more(options);
  if (std::byte* place = detail::find(ep, to, sizeof(T))) [[likely]] {
    detail::store_value(place, value);
    if (more) [[unlikely]]
      detail::bytes_are_in_place(ep, to.rank(), options);
    return Event{};
  }
  options.source = SourceReuse::at_return;
  return detail::put_nb_over_wire(ep, to.rank(), to.segment(), to.offset(), &value, sizeof(T), options);
}

/// As put_value, with options: put_value_nb followed by a wait. Errors: also refused.
template <detail::WritableValue T>
inline Status put_value(Endpoint& ep, GlobalPtr<T> to, std::type_identity_t<T> value,
                        const PutOptions& options) noexcept {
  return ep.wait(put_value_nb(ep, to, value, options));
}

/// As put_value_nb, with implicit completion. Errors: as put_nbi.
template <detail::WritableValue T>
inline Status put_value_nbi(Endpoint& ep, GlobalPtr<T> to, std::type_identity_t<T> value,
                            PutOptions options = {}) noexcept {
  const bool more = detail::ask_for_more(options);
  if (std::byte* place = detail::find(ep, to, sizeof(T))) [[likely]] {
    detail::store_value(place, value);
    if (more) [[unlikely]]
      detail::bytes_are_in_place(ep, to.rank(), options);
    return {};
  }
  options.source = SourceReuse::at_return;
  return detail::put_nbi_over_wire(ep, to.rank(), to.segment(), to.offset(), &value, sizeof(T), options);
}

/// Reads one value of 1–8 or 16 bytes and waits. Completion and errors as get; it also makes progress as get does.
template <class T>
  requires SmallValue<std::remove_const_t<T>>
inline Result<std::remove_const_t<T>> get_value(Endpoint& ep, GlobalPtr<T> from) noexcept {
  union Room {  // a value need not have a default constructor
    Room() noexcept {}
    std::remove_const_t<T> value;
  } room;
  if (const std::byte* place = detail::find_value(ep, from, sizeof(T))) [[likely]] {
    detail::load_value(room.value, place);
    return room.value;
  }
  if (Status status =
          detail::get_over_wire(ep, from.rank(), from.segment(), from.offset(), &room.value, sizeof(T));
      !status) {
    return status;
  }
  return room.value;
}

/// Copies between two segments and waits. Neither side has to be on this rank.
///
/// Shape:      the two ranges do not overlap.
/// Completion: remote.
/// Errors:     as put and get.
/// Cost:       one pass if one side is mapped here; otherwise each 16 KiB are got into a buffer here, then put.
Status copy(Endpoint& ep, GlobalPtr<std::byte> to, GlobalPtr<const std::byte> from,
            std::size_t bytes) noexcept;

}  // namespace aqueduct
