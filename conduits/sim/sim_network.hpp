#pragma once

#include "conduits/sim/messages.hpp"
#include "conduits/sim/registered_memory.hpp"
#include "conduits/sim/virtual_time.hpp"
#include "core/dice.hpp"
#include "core/network.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

namespace aqueduct::conduits::sim {

/// A network in virtual time: a port for each rank, and messages between them. docs/conduits/sim.md has the model; it is
/// that of coll/model/loggp.hpp, to the picosecond.
///
/// Threads: any; one lock guards all of it.
class SimNetwork final : public core::Network, private Events {
 public:
  using Lock = VirtualTime::Lock;

  /// `log` may be null; else it outlives the network. `real` counts the patience with ranks that stay away.
  SimNetwork(Rank ranks, const SimOptions& options, core::Log* log, core::EndpointClock real);

  /// Errors: out_of_range; refused (the rank was opened before).
  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

  Rank ranks() const noexcept { return static_cast<Rank>(ranks_.size()); }
  const SimOptions& options() const noexcept { return options_; }
  core::Log* log() const noexcept { return log_; }

  /// A rank's time.
  Picoseconds time_of(Rank rank) const noexcept { return time_.time_of(rank); }
  /// Lets a rank's time go on to `until`, whatever arrives. Requires: the rank's thread calls it, outside a poll.
  void sleep_until(Rank rank, Picoseconds until);
  /// How often a rank was passed over, see VirtualTime.
  std::uint64_t passed_over();

  // What follows is for the conduits of the ranks.

  /// Ends a rank. The others are told when all that it has sent is there.
  void close(Rank rank) noexcept;
  bool is_open(Rank rank) noexcept;
  void register_segment(Rank rank, SegmentId id, core::MutableBytes memory);
  void unregister_segment(Rank rank, SegmentId id) noexcept;
  void count_in(Rank rank, core::MutableBytes counters) noexcept;
  /// Posts a message of a rank: its processor is busy for the overhead, then its port has the message. `header` precedes
  /// `payload` in a packet.
  core::Post post(const Message& message, core::Bytes header, bool copies) noexcept;
  /// Takes the oldest news of a rank.  False: there is none.
  bool next_news(Rank rank, News& news) noexcept;
  /// Waits until there is news for a rank, or its time is `for_` later.
  void await_news(Rank rank, Picoseconds for_) noexcept;
  /// Messages of a rank that are under way.
  std::size_t under_way(Rank rank) noexcept;

 private:
  enum class Phase : std::uint8_t { head, in_place, source_free, over };
  /// Something that happens to a message. In the order of time; at one time as convention 9 of coll/model/loggp.hpp says.
  struct Event {
    Picoseconds time = 0;
    Phase phase = Phase::head;
    Rank first = 0;            ///< head: the sender; in_place: the receiver; else the rank that has posted it
    Rank second = 0;           ///< over: where it has arrived
    std::uint64_t number = 0;  ///< in the order of entering (head), of taking (in_place), or of planning
    std::uint32_t message = 0;

    bool operator>(const Event& other) const noexcept {
      if (time != other.time) return time > other.time;
      if (phase != other.phase) return phase > other.phase;
      if (first != other.first) return first > other.first;
      if (second != other.second) return second > other.second;
      return number > other.number;
    }
  };
  struct RankData {
    bool opened = false;
    bool open = false;
    bool loss_told = false;
    RegisteredMemory memory;
    core::MutableBytes counters;
    Picoseconds sends_from = 0;  ///< when its port can send the next message
    Picoseconds receives_from = 0;
    std::size_t under_way = 0;  ///< its posts that are not over
    std::size_t in_flight = 0;  ///< those of its messages that have not arrived
    std::deque<News> news;
  };

  Picoseconds next() const noexcept override;
  void happen() noexcept override;

  void plan(Picoseconds time, Phase phase, Rank first, std::uint32_t message, Rank second = 0);
  void hand_over(std::uint32_t number, Picoseconds at);
  Picoseconds disturbance() noexcept;
  void take_head(const Event& event);
  void arrive(const Event& event);
  void arrive_at_owner(std::uint32_t number, Picoseconds at);
  void raise(const Message& message);
  void free_source(Message& message);
  void complete(std::uint32_t number);
  void tell(Rank rank, News&& news);
  void arrived_from(Rank rank);
  void read_source(Message& message) noexcept;

  SimOptions options_;
  core::Log* log_;
  std::deque<RankData> ranks_;
  Messages messages_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t planned_ = 0;
  core::Dice dice_;
  VirtualTime time_;
};

}  // namespace aqueduct::conduits::sim
