#pragma once

#include "tools/aqcheck/check.hpp"
#include "tools/aqcheck/order.hpp"
#include "tools/aqcheck/values.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::aqcheck {

/// One byte of memory during a run.
struct Cell {
  Value value = kUnwritten;
  Event written;
  std::vector<Event> read;  ///< since it was written, each lane's last
};

/// One execution: see check().
class Run {
 public:
  Run(const Case& checked, const Change& change);
  Verdict verdict();

 private:
  struct Lane {
    Rank position = 0;
    std::uint32_t lane = 0;
    std::vector<coll::Step> steps;
    std::size_t next = 0;
    Before before;
    std::uint32_t depth = 0;  ///< of the longest chain of messages that it knows of
    bool told = false;
    Before at_tell;  ///< if it has told that it touches the user's buffers no more
  };
  struct CounterState {
    std::uint64_t value = 0;
    std::uint64_t total = 0;  ///< all that is ever added
    bool waited = false;      ///< a step waits for it
    Before before;
    std::uint32_t depth = 0;
  };
  using Memory = std::vector<Cell>;
  struct Touched {
    Event event;
    Rank position;  ///< whose user buffer
  };

  bool prepare();
  bool count_raises();
  bool is_legal(const Lane& lane, const coll::Step& step);
  bool run_lanes();
  bool begin(Lane& lane);
  bool move(Lane& lane, const coll::Step& step, Rank from_position, const Event& reads, Rank to_position,
            const Event& writes);
  bool reduce(Lane& lane, const coll::Step& step, const Event& event);
  /// The cell at `offset` of a member's space; null if the space ends before.
  Cell* cell(Rank position, coll::Space space, std::uint64_t offset);
  bool out_is_in_input() const noexcept;
  bool read(const Lane& lane, Rank position, const coll::Place& place, const coll::Step& step,
            const Event& event, std::vector<Value>& values);
  bool write(const Lane& lane, Rank position, const coll::Place& place, const coll::Step& step,
             const Event& event, const std::vector<Value>& values);
  /// Notes that an event touches a member's own buffers; checks that the sync mode lets it.
  bool touch(const Lane& lane, Rank position, coll::Space space, const Event& event);
  void raise(Rank position, coll::Counter counter, std::uint64_t add, const Before& before,
             std::uint32_t depth);
  void check_leaving();
  void check_results();
  bool check_byte(Rank position, Rank block, std::uint64_t offset, Value value);
  bool is_result(Value value, Rank count, std::uint64_t offset);
  void check_costs();
  bool fail(std::string text);
  std::string name(const Lane& lane, std::size_t index) const;

  const Case& case_;
  const Change& change_;
  const coll::Shape& shape_;
  coll::Needs needs_;
  std::vector<Lane> lanes_;                          // of all members, one after the other
  std::vector<std::vector<CounterState>> counters_;  // [position][counter]
  std::vector<Memory> in_, out_, scratch_, temp_;    // [position]
  std::vector<Touched> touched_;
  Values values_;
  std::size_t messages_ = 0;                       ///< of the whole run
  std::size_t begun_ = 0;                          ///< of these
  std::vector<std::vector<std::size_t>> sources_;  // [position]: the source ends of its messages
  Verdict verdict_;
};

}  // namespace aqueduct::aqcheck
