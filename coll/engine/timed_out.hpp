#pragma once

#include "core/op.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::coll {

/// Calls of a team that have timed out and still run. When a later call with Sync::all ends, the program takes their buffers for
/// free. So the end of such a call is held back until they are over on this member.
class TimedOut {
 public:
  /// A call has timed out. May throw std::bad_alloc.
  void add(std::uint64_t number) { running_.push_back(number); }
  /// A call is over. False: it had not timed out.
  bool over(std::uint64_t number) noexcept { return std::erase(running_, number) != 0; }
  bool any_before(std::uint64_t number) const noexcept;
  /// Holds back the end of a call's operation. May throw std::bad_alloc.
  void hold(std::uint64_t number, core::Op& op) { held_.push_back({number, &op}); }
  /// Removes an operation that may end now, and returns it; null if none may.
  core::Op* take_free() noexcept;
  bool empty() const noexcept { return running_.empty() && held_.empty(); }

 private:
  struct Held {
    std::uint64_t number;
    core::Op* op;
  };
  std::vector<std::uint64_t> running_;
  std::vector<Held> held_;
};

}  // namespace aqueduct::coll
