#pragma once

#include <aqueduct/copy_bytes.hpp>
#include <aqueduct/endpoint.hpp>

#include <ranges>
#include <span>
#include <type_traits>

namespace aqueduct {

/// When the source buffer of a put or active message may be written again.
enum class SourceReuse : std::uint8_t {
  at_completion,  ///< when the whole operation is done: never costs a copy
  at_return,      ///< when the call returns: the library copies, or waits until the buffer is free
  on_event,       ///< when the Event named in the options fires
};

struct PutOptions {
  SourceReuse source = SourceReuse::at_completion;
  /// With SourceReuse::on_event: replaced by the event of local completion, which is done where nothing is waited for.
  Event* source_event = nullptr;
  /// Rather than wait for room, come back with the Status `refused`; nothing has happened then.
  bool immediate = false;
};

struct GetOptions {
  bool immediate = false;
};

namespace detail {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

[[gnu::cold]] Status put_over_wire(Endpoint&, GlobalPtr<std::byte> to, const void* from,
                                   std::size_t bytes) noexcept;
[[gnu::cold]] Event put_nb_over_wire(Endpoint&, GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                                     const PutOptions&) noexcept;
[[gnu::cold]] Status put_nbi_over_wire(Endpoint&, GlobalPtr<std::byte> to, const void* from,
                                       std::size_t bytes, const PutOptions&) noexcept;
[[gnu::cold]] Status get_over_wire(Endpoint&, void* to, GlobalPtr<std::byte> from,
                                   std::size_t bytes) noexcept;
[[gnu::cold]] Event get_nb_over_wire(Endpoint&, void* to, GlobalPtr<std::byte> from, std::size_t bytes,
                                     const GetOptions&) noexcept;
[[gnu::cold]] Status get_nbi_over_wire(Endpoint&, void* to, GlobalPtr<std::byte> from, std::size_t bytes,
                                       const GetOptions&) noexcept;

template <class T>
concept Wireable = std::is_trivially_copyable_v<T>;

/// Sized and contiguous, and alive after the call: an lvalue container or a view such as std::span.
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
/// The bytes have been copied: whoever waits for the source buffer need not.
inline void source_is_free(const PutOptions& options) noexcept {
  if (options.source_event != nullptr) [[unlikely]]
    *options.source_event = Event{};
}
template <class T>
std::byte* find(Endpoint& ep, GlobalPtr<T> to, std::size_t bytes) noexcept {
  return ep.mapped(to.rank(), to.segment(), to.offset(), bytes);
}
/// For a value to be read; see Endpoint::mapped_for_value.
template <class T>
const std::byte* find_value(Endpoint& ep, GlobalPtr<T> from, std::size_t bytes) noexcept {
  return ep.mapped_for_value(from.rank(), from.segment(), from.offset(), bytes);
}
template <class T>
GlobalPtr<std::byte> plain(GlobalPtr<T> p) noexcept {
  return {p.rank(), p.offset(), p.segment()};
}

}  // namespace detail

/// Writes `from` into another rank's segment, and begins no more than that: see the Event.
///
/// Shape:       `from` is a contiguous range of T that outlives the operation (or its source event).
/// Completion:  remote: the Event is done when the bytes are in the target's memory. Nothing is said of the
///              order of two operations; the result of overlapping puts without a wait between is undefined.
/// Errors:      out_of_range (no such rank or segment, or outside it), refused (immediate, no room), peer_lost.
/// Cost:        a copy when the target is mapped here, else one operation of the network.
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Event put_nb(Endpoint& ep, GlobalPtr<T> to, R&& from, const PutOptions& options = {}) noexcept {
  const std::size_t bytes = detail::size_in_bytes(from);
  if (std::byte* place = detail::find(ep, to, bytes)) [[likely]] {
    detail::copy_bytes(place, std::ranges::data(from), bytes);
    detail::source_is_free(options);
    return Event{};
  }
  return detail::put_nb_over_wire(ep, detail::plain(to), std::ranges::data(from), bytes, options);
}

/// Writes `from` and waits: remote completion, as put_nb followed by wait.
///
/// Errors: as put_nb, and in_handler.
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status put(Endpoint& ep, GlobalPtr<T> to, R&& from) noexcept {
  const std::size_t bytes = detail::size_in_bytes(from);
  if (std::byte* place = detail::find(ep, to, bytes)) [[likely]] {
    detail::copy_bytes(place, std::ranges::data(from), bytes);
    return {};
  }
  return detail::put_over_wire(ep, detail::plain(to), std::ranges::data(from), bytes);
}

/// Writes `from` with implicit completion: part of the open region, else of `wait_implicit`.
///
/// Errors: a failure to begin is returned; a later one comes with the group.
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status put_nbi(Endpoint& ep, GlobalPtr<T> to, R&& from, const PutOptions& options = {}) noexcept {
  const std::size_t bytes = detail::size_in_bytes(from);
  if (std::byte* place = detail::find(ep, to, bytes)) [[likely]] {
    detail::copy_bytes(place, std::ranges::data(from), bytes);
    detail::source_is_free(options);
    return {};
  }
  return detail::put_nbi_over_wire(ep, detail::plain(to), std::ranges::data(from), bytes, options);
}

/// Reads from another rank's segment into `to`.
///
/// Shape:       `to` is a contiguous range of T that outlives the operation.
/// Completion:  local: the Event is done when `to` holds the bytes.
/// Errors:      as put_nb.
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Event get_nb(Endpoint& ep, R&& to, GlobalPtr<T> from, const GetOptions& options = {}) noexcept {
  const std::size_t bytes = detail::size_in_bytes(to);
  if (const std::byte* place = detail::find(ep, from, bytes)) [[likely]] {
    detail::copy_bytes(std::ranges::data(to), place, bytes);
    return Event{};
  }
  return detail::get_nb_over_wire(ep, std::ranges::data(to), detail::plain(from), bytes, options);
}

/// Reads into `to` and waits. Of my own memory, where others need my processor for their atomics on it, makes progress now
/// and then, so that a loop over it ends. Errors: as put_nb, and in_handler.
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status get(Endpoint& ep, R&& to, GlobalPtr<T> from) noexcept {
  const std::size_t bytes = detail::size_in_bytes(to);
  if (const std::byte* place = detail::find_value(ep, from, bytes)) [[likely]] {
    detail::copy_bytes(std::ranges::data(to), place, bytes);
    return {};
  }
  return detail::get_over_wire(ep, std::ranges::data(to), detail::plain(from), bytes);
}

/// Reads into `to` with implicit completion. Errors: as put_nbi.
template <detail::Wireable T, detail::LastingRange R>
  requires detail::RangeOf<T, R>
inline Status get_nbi(Endpoint& ep, R&& to, GlobalPtr<T> from, const GetOptions& options = {}) noexcept {
  const std::size_t bytes = detail::size_in_bytes(to);
  if (const std::byte* place = detail::find(ep, from, bytes)) [[likely]] {
    detail::copy_bytes(std::ranges::data(to), place, bytes);
    return {};
  }
  return detail::get_nbi_over_wire(ep, std::ranges::data(to), detail::plain(from), bytes, options);
}

// From or into a temporary container: it would be gone before the operation is.
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

/// What travels as a value: 1 to 8 bytes.
template <class T>
concept SmallValue = detail::Wireable<T> && sizeof(T) <= 8;

/// Writes one value of 1–8 bytes and waits. Errors: as put.
template <SmallValue T>
inline Status put_value(Endpoint& ep, GlobalPtr<T> to, std::type_identity_t<T> value) noexcept {
  if (std::byte* place = detail::find(ep, to, sizeof(T))) [[likely]] {
    detail::store_value(place, value);
    return {};
  }
  return detail::put_over_wire(ep, detail::plain(to), &value, sizeof(T));
}

/// Writes one value; the value is taken at the call, so there is no source buffer to keep.
template <SmallValue T>
inline Event put_value_nb(Endpoint& ep, GlobalPtr<T> to, std::type_identity_t<T> value,
                          PutOptions options = {}) noexcept {
  if (std::byte* place = detail::find(ep, to, sizeof(T))) [[likely]] {
    detail::store_value(place, value);
    detail::source_is_free(options);
    return Event{};
  }
  options.source = SourceReuse::at_return;
  return detail::put_nb_over_wire(ep, detail::plain(to), &value, sizeof(T), options);
}

/// Writes one value with implicit completion.
template <SmallValue T>
inline Status put_value_nbi(Endpoint& ep, GlobalPtr<T> to, std::type_identity_t<T> value,
                            PutOptions options = {}) noexcept {
  if (std::byte* place = detail::find(ep, to, sizeof(T))) [[likely]] {
    detail::store_value(place, value);
    detail::source_is_free(options);
    return {};
  }
  options.source = SourceReuse::at_return;
  return detail::put_nbi_over_wire(ep, detail::plain(to), &value, sizeof(T), options);
}

/// Reads one value of 1–8 bytes and waits. Of my own memory as get.
template <class T>
  requires SmallValue<std::remove_const_t<T>>
inline Result<std::remove_const_t<T>> get_value(Endpoint& ep, GlobalPtr<T> from) noexcept {
  std::remove_const_t<T> value;
  if (const std::byte* place = detail::find_value(ep, from, sizeof(T))) [[likely]] {
    detail::load_value(value, place);
    return value;
  }
  if (Status status = detail::get_over_wire(ep, &value, detail::plain(from), sizeof(T)); !status) {
    return status;
  }
  return value;
}

/// Copies between two segments, neither of which need be mine, and waits.
///
/// Errors: as put and get. Cost: one pass where one side is mapped, else through a bounded buffer here.
Status copy(Endpoint& ep, GlobalPtr<std::byte> to, GlobalPtr<const std::byte> from,
            std::size_t bytes) noexcept;

}  // namespace aqueduct
