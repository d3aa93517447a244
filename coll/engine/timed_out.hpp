#pragma once

#include "core/op.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::coll {

/// Calls of a team for which the program waits no longer, because their time was over, and which still run. A later call with
/// Sync::all tells the program that their buffers are free: it is held back until they are over on this member.
class TimedOut {
 public:
  /// The call runs on, and nobody waits for it. May throw std::bad_alloc.
  void add(std::uint64_t number) { running_.push_back(number); }
  /// The call is over. False: it is none of these.
  bool over(std::uint64_t number) noexcept { return std::erase(running_, number) != 0; }
  bool any_before(std::uint64_t number) const noexcept;
  /// Keeps the caller's operation of a call that is over. May throw std::bad_alloc.
  void hold(std::uint64_t number, core::Op& op) { held_.push_back({number, &op}); }
  /// One that need not be held any longer; null: there is none.
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
