#pragma once

#include <aqueduct/expect.hpp>
#include <aqueduct/status.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace aqueduct {

class Endpoint;
class Group;

namespace core {
struct GroupRecord;
}

namespace detail {
core::GroupRecord& record_of(Group& group) noexcept;
}

/// Operations that are waited for together. Several groups of an endpoint may be open at a time; regions and the
/// implicit group (endpoint.hpp) are of the same kind.
///
/// The `_nbi` forms of puts, gets, atomics and transfers of pieces join the group that their options name. So do
/// messages. An operation that fails at its beginning does not join: the call returns the failure. What instructions
/// from here do, on mapped memory, is over at the call and joins nothing.
///
/// Completion:  of a put or an atomic: remote. Of a get: local. Of a message: local, when its payload's buffer is free;
///              the handler may run later.
/// Source:      source_done() tells when the buffers of messages, and of those puts whose PutOptions::source is
///              `on_event` without a source_event, may be reused. The other puts need their buffers until done().
/// Lifetime:    its operations must be over before it is destroyed: otherwise a checked build ends the program, and a
///              release build lets them finish unobserved. It may outlive its endpoint: it is then empty, and waits
///              return `closed`.
/// Cost:        448 bytes here, for any number of operations; nothing of the endpoint's memory. An operation takes 200
///              bytes of the endpoint's while it is in flight. At most 4096 members of all groups are in flight: further
///              ones wait until one of these is over.
/// Threads:     as its endpoint.
/// Source:      OpenSHMEM 1.5, contexts; GASNet-EX, access regions of non-blocking implicit operations.
class [[nodiscard]] Group {
 public:
  explicit Group(Endpoint& ep) noexcept;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    AQUEDUCT_EXPECT(may_end(), "a Group was destroyed while its operations are in flight; wait for it");
    end();
  }

  /// Whether all operations that joined are over. Makes no progress.
  bool done() const noexcept { return in_flight() == 0; }
  /// Whether all source buffers that count with the group are free. Makes no progress.
  bool source_done() const noexcept { return sources_in_flight() == 0; }
  /// As done, after one round of progress if it is false.
  bool test() noexcept;
  /// As source_done, after one round of progress if it is false.
  bool test_source() noexcept;

  /// Waits until done(). The group is then used again.
  ///
  /// Errors: the first failure of an operation since the last wait (all of them are over then); in_handler, closed,
  ///         invalid_argument (in a forked child).
  Status wait() noexcept { return wait_for(std::chrono::nanoseconds::max()); }
  /// As wait, but for at most `limit`. Errors: also timed_out (the operations continue).
  Status wait_for(std::chrono::nanoseconds limit) noexcept;
  /// Waits until source_done().
  ///
  /// Errors: in_handler, closed, invalid_argument (in a forked child). Failures of operations are those of `wait`.
  Status wait_source() noexcept;

  /// The number of operations that joined and are not over.
  std::uint32_t in_flight() const noexcept;
  /// The number of those whose source buffer counts with the group and is not free.
  std::uint32_t sources_in_flight() const noexcept;

 private:
  friend core::GroupRecord& detail::record_of(Group& group) noexcept;
  bool may_end() const noexcept;
  void end() noexcept;

  static constexpr std::size_t kRecordBytes = 448;
  alignas(std::uint64_t) std::byte record_[kRecordBytes];  // a core::GroupRecord
};

}  // namespace aqueduct
