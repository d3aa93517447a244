#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace aqueduct {

/// Why a call failed. `errors()` has the meaning of each code and what to try.
enum class ErrorCode : std::uint16_t {
  ok = 0,
  invalid_argument,  ///< an argument is wrong, or the call is not legal at this point
  out_of_range,      ///< a rank, team index, slot or address outside its bounds
  misaligned,        ///< an atomic on an address that is not a multiple of its size
  too_large,         ///< a payload or argument struct above the declared limit
  wrong_handler,     ///< no such handler, or its category or argument struct differs
  in_handler,        ///< a call that may block was made inside a handler
  refused,           ///< an immediate initiation found no room; nothing happened
  peer_lost,         ///< the peer, or a member of the team, has died or left
  timed_out,         ///< a wait reached its time limit
  no_memory,         ///< the machine cannot give that much memory
  no_space,          ///< the file system behind shared memory is full
  bad_setting,       ///< a setting is unknown, or its value cannot be used
  version_mismatch,  ///< processes of the job have different versions of the library or of a conduit
  bootstrap_failed,  ///< the processes of the job could not find one another
  not_supported,     ///< this conduit or this machine cannot do it
  network_failed,    ///< the operating system or a network library refused
  closed,            ///< the object has ended: a job, a team, or a segment that was released
  mismatch,          ///< members of a team gave different values, or made different calls
  internal,          ///< a bug in Aqueduct
};

/// Describes an error code.
struct ErrorInfo {
  ErrorCode code;
  std::string_view name;     ///< as written in the enum
  std::string_view meaning;  ///< one sentence
  std::string_view advice;   ///< what to try
};

/// All error codes, in numeric order.
std::span<const ErrorInfo> errors() noexcept;
const ErrorInfo& describe(ErrorCode code) noexcept;

/// The outcome of a call: 8 bytes, freely copied. Converts to true on success.
class [[nodiscard]] Status {
 public:
  constexpr Status() noexcept = default;
  constexpr Status(ErrorCode code, Rank peer = kNoRank) noexcept : code_(code), peer_(peer) {}

  constexpr explicit operator bool() const noexcept { return code_ == ErrorCode::ok; }
  constexpr bool ok() const noexcept { return code_ == ErrorCode::ok; }
  constexpr ErrorCode code() const noexcept { return code_; }
  /// The rank that the failure concerns, or kNoRank.
  constexpr Rank peer() const noexcept { return peer_; }
  /// A description in words: "peer_lost (rank 3): the peer … has died or left; …".
  std::string text() const;
  /// The exit status for a program that ends because of this: 0, or 10 + the code.
  constexpr int exit_code() const noexcept { return ok() ? 0 : 10 + static_cast<int>(code_); }

  friend constexpr bool operator==(Status, Status) noexcept = default;

 private:
  ErrorCode code_ = ErrorCode::ok;
  Rank peer_ = kNoRank;
};
static_assert(sizeof(Status) == 8);

/// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
  Result(Status why) noexcept : status_(why) {}
  Result(ErrorCode why, Rank peer = kNoRank) noexcept : status_(why, peer) {}

  explicit operator bool() const noexcept { return value_.has_value(); }
  bool ok() const noexcept { return value_.has_value(); }
  Status status() const noexcept { return status_; }

  /// The value. Requires: ok().
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T&& operator*() && noexcept { return std::move(*value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }
  /// A copy of the value, or `other` if the call failed.
  T value_or(T other) const& { return value_ ? *value_ : std::move(other); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace aqueduct
