#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::aqcheck {

/// An event that touches memory: a step of a lane, or an end of a message.
///
/// A message has two ends. Its source end is over when the bytes have been read; its target end when they are in place.
struct Event {
  enum class Kind : std::uint8_t { none, step, mark };
  Kind kind = Kind::none;
  std::uint32_t which = 0;  ///< the lane, or the mark
  std::uint32_t time = 0;   ///< of a step: its number, counted from 1

  friend bool operator==(const Event&, const Event&) = default;
};

/// Says of each row what an event comes after, in every execution: for each lane, how many of its steps; and which marks.
/// A mark is a thing that happens once: a member's call, or an end of a message.
///
/// The rows of a run lie in two pieces of memory, which the next run uses again.
class Orders {
 public:
  using Row = std::uint32_t;
  static constexpr Row kNone = ~Row{0};

  void begin(std::size_t lanes, std::size_t marks) {
    lanes_ = lanes;
    words_ = (marks + 63) / 64;
    rows_ = 0;
  }
  Row empty() {
    const Row row = add();
    std::fill_n(steps(row), lanes_, 0);
    std::fill_n(marks(row), words_, 0);
    return row;
  }
  Row copy(Row of) {
    const Row row = add();
    assign(row, of);
    return row;
  }
  void assign(Row to, Row from) noexcept {
    std::copy_n(steps(from), lanes_, steps(to));
    std::copy_n(marks(from), words_, marks(to));
  }
  void join(Row to, Row from) noexcept {
    std::uint32_t* const a = steps(to);
    const std::uint32_t* const b = steps(from);
    for (std::size_t i = 0; i < lanes_; ++i) a[i] = std::max(a[i], b[i]);
    std::uint64_t* const x = marks(to);
    const std::uint64_t* const y = marks(from);
    for (std::size_t i = 0; i < words_; ++i) x[i] |= y[i];
  }
  void set_steps(Row row, std::size_t lane, std::uint32_t count) noexcept { steps(row)[lane] = count; }
  void add_mark(Row row, std::size_t mark) noexcept {
    marks(row)[mark / 64] |= std::uint64_t{1} << (mark % 64);
  }
  bool has_mark(Row row, std::size_t mark) const noexcept {
    return (marks_[row * words_ + mark / 64] >> (mark % 64) & 1) != 0;
  }
  /// Whether the event is over before one that comes after `row`.
  bool has(Row row, const Event& event) const noexcept {
    if (event.kind == Event::Kind::none) return true;
    return event.kind == Event::Kind::step ? steps_[row * lanes_ + event.which] >= event.time
                                           : has_mark(row, event.which);
  }

 private:
  Row add() {
    const auto row = static_cast<Row>(rows_++);
    if (steps_.size() < rows_ * lanes_) steps_.resize(2 * rows_ * lanes_);
    if (marks_.size() < rows_ * words_) marks_.resize(2 * rows_ * words_);
    return row;
  }
  std::uint32_t* steps(Row row) noexcept { return steps_.data() + row * lanes_; }
  std::uint64_t* marks(Row row) noexcept { return marks_.data() + row * words_; }

  std::size_t lanes_ = 0;
  std::size_t words_ = 0;
  std::size_t rows_ = 0;
  std::vector<std::uint32_t> steps_;
  std::vector<std::uint64_t> marks_;
};

}  // namespace aqueduct::aqcheck
