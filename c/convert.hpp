#pragma once

#include <aqueduct/aqueduct.h>
#include <aqueduct/aqueduct.hpp>
#include <aqueduct/null_argument.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

/// The C face of the library. Each function makes one call of the public C++ interface; these are the conversions.
namespace aqueduct::c {

inline aq_status plain(Status status) noexcept {
  return {static_cast<std::int32_t>(status.code()), status.peer()};
}
inline aq_event plain(Event&& event) noexcept { return {event.release()}; }

inline Endpoint& whole(aq_endpoint* ep) noexcept { return *reinterpret_cast<Endpoint*>(ep); }
inline const Endpoint& whole(const aq_endpoint* ep) noexcept {
  return *reinterpret_cast<const Endpoint*>(ep);
}
inline aq_endpoint* plain(Endpoint& ep) noexcept { return reinterpret_cast<aq_endpoint*>(&ep); }
inline GlobalPtr<std::byte> whole(aq_ptr at) noexcept { return {at.rank, at.offset, at.segment}; }
inline Group* whole(aq_group* group) noexcept { return reinterpret_cast<Group*>(group); }
inline const Group* whole(const aq_group* group) noexcept { return reinterpret_cast<const Group*>(group); }
inline const RankList& whole(const aq_rank_list* list) noexcept {
  return *reinterpret_cast<const RankList*>(list);
}

inline std::span<const std::byte> source(const void* from, std::size_t bytes) noexcept {
  return {static_cast<const std::byte*>(from), bytes};
}
inline std::span<std::byte> target(void* to, std::size_t bytes) noexcept {
  return {static_cast<std::byte*>(to), bytes};
}
inline std::chrono::nanoseconds limit_of(std::int64_t nanoseconds) noexcept {
  return std::chrono::nanoseconds(nanoseconds);
}

/// Calls `body(event)` with the Event that a C event stands for, and stores what has become of it.
template <class F>
auto with_event(aq_event* plain_event, F body) noexcept {
  Event event = Event::adopt(plain_event->word);
  const auto result = body(event);
  plain_event->word = event.release();
  return result;
}

/// As snprintf: what fits, ended by 0. Returns the length of the whole text.
inline std::size_t copy_text(std::string_view from, char* text, std::size_t bytes) noexcept {
  if (text != nullptr && bytes != 0) {
    const std::size_t length = std::min(from.size(), bytes - 1);
    std::memcpy(text, from.data(), length);
    text[length] = 0;
  }
  return from.size();
}

/// Calls `body`, which returns a Status. An exception becomes no_memory: nothing else is thrown by what the face calls.
template <class F>
aq_status guarded(F body) noexcept {
  try {
    return plain(body());
  } catch (...) {
    return plain(ErrorCode::no_memory);
  }
}

/// A pointer argument of a call.
struct PointerArgument {
  const char* name;
  const void* value;
};
/// A call got null where it needs something: the log of `ep`, if it is one, names the call and the first such argument.
[[gnu::cold]] Status refuse_null(aq_endpoint* ep, const char* call,
                                 std::initializer_list<PointerArgument> arguments) noexcept;
/// Whether one of the pointers that a call needs is null: then it is refused, in the log of the environment's settings.
inline bool lacks(const char* call, std::initializer_list<PointerArgument> needed) noexcept {
  const bool has_all = std::all_of(needed.begin(), needed.end(),
                                   [](const PointerArgument& one) { return one.value != nullptr; });
  if (!has_all) [[unlikely]]
    static_cast<void>(refuse_null(nullptr, call, needed));
  return !has_all;
}

/// The memory behind a C handle. It is allocated before the call that makes the object: what all members of a team have
/// made must not be lost on this rank for lack of a few bytes.
template <class T>
class HandleMemory {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ && std::is_nothrow_move_constructible_v<T>);

 public:
  HandleMemory() noexcept : at_(::operator new(sizeof(T), std::nothrow)) {}
  ~HandleMemory() { ::operator delete(at_); }
  HandleMemory(const HandleMemory&) = delete;
  HandleMemory& operator=(const HandleMemory&) = delete;

  explicit operator bool() const noexcept { return at_ != nullptr; }
  /// The handle of an object, which moves there. The handle is deleted as a T.
  T* hold(T&& made) noexcept { return new (std::exchange(at_, nullptr)) T(std::move(made)); }

 private:
  void* at_;
};

/// Calls `make`, which returns a Result, and stores a handle of what it has made. Without memory for the handle, `make`
/// is not called. `Plain` is the C type that stands for the object's.
template <class Plain, class F>
Status hand_over(F make, Plain** out) {
  HandleMemory<std::remove_cvref_t<decltype(*make())>> memory;
  if (!memory) return ErrorCode::no_memory;
  auto made = make();
  if (made) *out = reinterpret_cast<Plain*>(memory.hold(*std::move(made)));
  return made.status();
}

/// The options of one call. The destructor stores the event of the source buffer, if the caller wants it.
class CallOptions {
 public:
  explicit CallOptions(const aq_options* from) noexcept
      : from_(from != nullptr ? *from : aq_options{}), wrong_(from != nullptr && !legal(*from)) {}
  CallOptions(const CallOptions&) = delete;
  CallOptions& operator=(const CallOptions&) = delete;
  ~CallOptions() {
    if (from_.source_event != nullptr) *from_.source_event = plain(std::move(source_));
  }

  /// Whether the caller has set what this version does not know. The call then fails with invalid_argument.
  bool wrong() const noexcept { return wrong_; }

  PutOptions put() noexcept {
    PutOptions options;
    if (has(AQ_SOURCE_AT_RETURN)) options.source = SourceReuse::at_return;
    // An event without a flag is meant to be told of the source: it must not be finished before the source is free.
    const bool by_event = has(AQ_SOURCE_ON_EVENT) || from_.source_event != nullptr;
    if (by_event && !has(AQ_SOURCE_AT_RETURN)) options.source = SourceReuse::on_event;
    options.source_event = source_event();
    options.immediate = has(AQ_IMMEDIATE);
    options.notify = has(AQ_NOTIFY);
    options.group = whole(from_.group);
    return options;
  }
  GetOptions get() const noexcept {
    GetOptions options;
    options.immediate = has(AQ_IMMEDIATE);
    options.group = whole(from_.group);
    return options;
  }
  AtomicOptions atomic() const noexcept {
    AtomicOptions options;
    options.immediate = has(AQ_IMMEDIATE);
    options.notify = has(AQ_NOTIFY);
    options.group = whole(from_.group);
    return options;
  }
  AmOptions am() noexcept {
    AmOptions options;
    options.immediate = has(AQ_IMMEDIATE);
    options.source_event = source_event();
    options.group = whole(from_.group);
    return options;
  }

 private:
  static bool legal(const aq_options& options) noexcept {
    constexpr std::uint32_t kSource = AQ_SOURCE_AT_RETURN | AQ_SOURCE_ON_EVENT;
    constexpr std::uint32_t kKnown = AQ_IMMEDIATE | AQ_NOTIFY | kSource;
    return options.reserved == 0 && (options.flags & ~kKnown) == 0 && (options.flags & kSource) != kSource;
  }
  bool has(std::uint32_t flag) const noexcept { return (from_.flags & flag) != 0; }
  Event* source_event() noexcept { return from_.source_event != nullptr ? &source_ : nullptr; }

  aq_options from_;
  bool wrong_;
  Event source_;
};

/// Does a call with options: `body(options)` returns its Status.
template <class F>
aq_status status_of(const aq_options* options, F body) noexcept {
  CallOptions call(options);
  return plain(call.wrong() ? Status(ErrorCode::invalid_argument) : body(call));
}
/// The same for a call that returns an Event.
template <class F>
aq_event event_of(const aq_options* options, F body) noexcept {
  CallOptions call(options);
  return plain(call.wrong() ? Event(Status(ErrorCode::invalid_argument)) : body(call));
}

}  // namespace aqueduct::c
