#pragma once

#include <aqueduct/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace aqueduct::core {

/// Identifies a post. The conduit returns the token with the completion and does not interpret it. Several posts may
/// have the same token (parts of one operation), and 0 is a token like any other.
using Token = std::uint64_t;

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// The answer to a post. No post blocks, and no post calls the inbox.
///
/// done    The operation is complete and its buffers may be reused. No completion follows.
/// posted  Exactly one Inbox::completed with the token follows. The buffers belong to the conduit until then.
/// retry   Nothing happened, because there is no room now. The caller tries again after a poll. `why` may be no_memory: then
///         memory is what lacks, and an operation that finds none for some seconds ends with that error.
/// failed  Nothing was started, and trying again does not help. `why` is the reason, such as peer_lost.
struct Post {
  enum class Kind : std::uint8_t { done, posted, retry, failed };
  Kind kind;
  ErrorCode why = ErrorCode::ok;

  static constexpr Post done() noexcept { return {Kind::done}; }
  static constexpr Post posted() noexcept { return {Kind::posted}; }
  static constexpr Post retry(ErrorCode why = ErrorCode::ok) noexcept { return {Kind::retry, why}; }
  static constexpr Post failed(ErrorCode why) noexcept { return {Kind::failed, why}; }
};

}  // namespace aqueduct::core
