#pragma once

#include <aqueduct/group.hpp>

#include "core/op.hpp"

#include <chrono>

namespace aqueduct::detail {
struct EndpointState;
}

namespace aqueduct::core {

using aqueduct::detail::EndpointState;

/// A group of operations that stays open: the program's (Group), or an endpoint's implicit one.
///
/// Each of its two operations has one part that never ends, so they do not end either. A member holds one more part of
/// `all`, and one of `source` if the group tells when its buffer is free.
struct GroupRecord {
  explicit GroupRecord(EndpointState& state) noexcept;
  ~GroupRecord();
  GroupRecord(const GroupRecord&) = delete;
  GroupRecord& operator=(const GroupRecord&) = delete;

  std::uint32_t in_flight() const noexcept { return all.parts - 1; }
  std::uint32_t sources_in_flight() const noexcept { return source.parts - 1; }
  /// Waits until all members are over, and returns and clears the first failure among them.
  Status wait(std::chrono::nanoseconds limit) noexcept;
  Status wait_source() noexcept;
  /// Nothing is in flight any more: this is a forked child, or the endpoint ends.
  void end_all(ErrorCode why) noexcept;

  Op all;
  Op source;
  EndpointState* state;  ///< null: the endpoint has ended
  // The groups of an endpoint.
  GroupRecord* next = nullptr;
  GroupRecord* previous = nullptr;
};

/// All groups of an endpoint. They may outlive it.
class GroupList {
 public:
  GroupList() = default;
  GroupList(const GroupList&) = delete;
  GroupList& operator=(const GroupList&) = delete;

  void add(GroupRecord& group) noexcept;
  void remove(GroupRecord& group) noexcept;
  /// In a forked child: nothing arrives any more.
  void end_all(ErrorCode why) noexcept;
  /// The endpoint ends: its groups are empty from now on.
  void close() noexcept;

 private:
  GroupRecord* first_ = nullptr;
};

}  // namespace aqueduct::core
