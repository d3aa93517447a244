#pragma once

#include "tools/aqcheck/check.hpp"
#include "tools/aqcheck/order.hpp"
#include "tools/aqcheck/values.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::aqcheck {

/// One execution: see check(). An object executes one case after the other, in the same memory.
///
/// Memory is looked at in pieces of `unit_` bytes: the greatest common divisor of the sizes and distances of blocks and of
/// all that steps move. No step cuts a piece, so all bytes of a piece have the same history.
class Run {
 public:
  Verdict check(const Case& checked, const Change& change);

 private:
  static constexpr std::uint32_t kNoReader = ~std::uint32_t{0};

  /// One piece of memory.
  struct Cell {
    Value value = kUnwritten;
    Event written;
    std::uint32_t read =
        kNoReader;  ///< since it was written, each lane's last: the first of a list in readers_
  };
  struct Reader {
    Event event;
    std::uint32_t next;
  };
  /// A space of a member.
  struct Area {
    Cell* cells = nullptr;
    std::uint64_t count = 0;
  };
  struct Lane {
    Rank position = 0;
    std::uint32_t lane = 0;
    std::size_t begin = 0;  ///< in steps_
    std::size_t end = 0;
    std::size_t next = 0;
    Orders::Row before = Orders::kNone;
    std::uint32_t depth = 0;              ///< of the longest chain of messages that it knows of
    bool knows_calls = false;             ///< of all members
    Orders::Row at_tell = Orders::kNone;  ///< if it has told that it touches the user's buffers no more
  };
  struct CounterState {
    std::uint64_t value = 0;
    std::uint64_t total = 0;             ///< all that is ever added
    bool waited = false;                 ///< a step waits for it
    Orders::Row before = Orders::kNone;  ///< none: never raised
    std::uint32_t depth = 0;
  };
  struct Touched {
    Event event;
    Rank position;  ///< whose user buffer
  };
  /// Where a member lets peers put something.
  struct Address {
    Rank position;
    coll::Place place;
  };
  /// The places of a member's spaces in cells_.
  struct Spaces {
    std::size_t in, out, scratch, temp;
    std::uint64_t in_count, out_count;
  };

  const coll::Shape& shape() const noexcept { return case_->shape; }
  const coll::Step& step_of(const Lane& lane) const noexcept { return steps_[lane.begin + lane.next]; }
  CounterState& counter(Rank position, coll::Counter number) noexcept {
    return counters_[position * needs_.counters + number];
  }

  // run_prepare.cpp
  /// Lists all steps.
  bool prepare(const Change& change);
  void find_unit();
  void lay_out();
  /// Sums up what is ever added to each counter, and holds every wait to that sum.
  bool count_raises();

  // run.cpp
  bool run_lanes();
  bool begin(Lane& lane);
  void raise(Rank position, coll::Counter number, std::uint64_t add, Orders::Row before, std::uint32_t depth);

  // run_addresses.cpp
  bool resolve(Lane& lane, coll::Step& step, const Event& announces, const Event& sends);
  bool announce(Lane& lane, coll::Step& step, const Event& event);
  bool find_told(Lane& lane, coll::Step& step, const Event& event);

  // run_memory.cpp
  Area area(Rank position, coll::Space space) noexcept;
  bool out_is_in_input() const noexcept;
  bool move(Lane& lane, const coll::Step& step, Rank from_position, const Event& reads, Rank to_position,
            const Event& writes);
  bool reduce(Lane& lane, const coll::Step& step, const Event& event);
  bool read(Lane& lane, Rank position, const coll::Place& place, const coll::Step& step, const Event& event,
            std::vector<Value>& values);
  bool write(Lane& lane, Rank position, const coll::Place& place, const coll::Step& step, const Event& event,
             const std::vector<Value>& values);
  void add_reader(Cell& cell, Orders::Row before, const Event& event);
  /// Notes that an event touches a member's own buffers; checks that the sync mode lets it.
  bool touch(Lane& lane, Rank position, coll::Space space, const Event& event);

  // run_results.cpp
  void check_leaving();
  void check_lent();
  void check_results();
  void check_blocks();
  bool check_piece(Rank position, Rank block, std::uint64_t offset, Value value);
  bool is_result(Value value, Rank count, std::uint64_t offset);
  void check_costs();

  bool fail(std::string text);
  std::string name(const Lane& lane, std::size_t index) const;

  const Case* case_ = nullptr;
  coll::Needs needs_;
  std::uint64_t unit_ = 1;
  std::uint64_t pitch_ = 0;  // of blocks, in pieces
  std::uint64_t block_ = 0;  // pieces of a block
  std::vector<coll::Step> steps_;
  std::vector<Lane> lanes_;             // of all members, one after the other
  std::vector<CounterState> counters_;  // [position][counter]
  std::vector<Cell> cells_;
  std::vector<Spaces> spaces_;  // [position]
  std::vector<Reader> readers_;
  std::vector<Touched> touched_;
  std::vector<Touched> lent_;       ///< scratch that a peer reads: its owner's next operations write there
  std::vector<Address> addresses_;  // that members have announced
  std::vector<Value> left_, right_;
  Values values_;
  Orders orders_;
  Orders::Row after_ = Orders::kNone;              // of the step that is begun
  std::size_t messages_ = 0;                       // of the whole run
  std::size_t begun_ = 0;                          // of these
  std::vector<std::vector<std::size_t>> sources_;  // [position]: the source ends of its messages
  Verdict verdict_;
};

}  // namespace aqueduct::aqcheck
