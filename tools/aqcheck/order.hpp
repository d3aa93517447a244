#pragma once

#include <cstdint>
#include <vector>

namespace aqueduct::aqcheck {

/// What an event comes after, in every execution: for each lane, how many of its steps; and which ends of messages.
///
/// A message has two ends. Its source end is over when the bytes have been read; its target end when they are in place.
class Before {
 public:
  Before(std::size_t lanes, std::size_t ends) : steps_(lanes), ends_((ends + 63) / 64) {}

  std::uint32_t steps(std::size_t lane) const noexcept { return steps_[lane]; }
  void set_steps(std::size_t lane, std::uint32_t steps) noexcept { steps_[lane] = steps; }
  bool has_end(std::size_t end) const noexcept { return (ends_[end / 64] >> (end % 64) & 1) != 0; }
  void add_end(std::size_t end) noexcept { ends_[end / 64] |= std::uint64_t{1} << (end % 64); }
  void join(const Before& other) noexcept {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (other.steps_[i] > steps_[i]) steps_[i] = other.steps_[i];
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) ends_[i] |= other.ends_[i];
  }

 private:
  std::vector<std::uint32_t> steps_;
  std::vector<std::uint64_t> ends_;
};

/// An event that touches memory: a step of a lane, or an end of a message.
struct Event {
  enum class Kind : std::uint8_t { none, step, end };
  Kind kind = Kind::none;
  std::uint32_t which = 0;  ///< the lane, or the end
  std::uint32_t time = 0;   ///< of a step: its number, counted from 1

  /// Whether this event is over before one that comes after `before`.
  bool is_in(const Before& before) const noexcept {
    if (kind == Kind::none) return true;
    return kind == Kind::step ? before.steps(which) >= time : before.has_end(which);
  }
};

}  // namespace aqueduct::aqcheck
