#pragma once

#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::conformance {

/// A random program: rounds of actions, which every rank derives from the seed alone.
///
/// No two actions of a round conflict: a slice of memory is either written once or read, and counters are only added
/// to. So the memory at the end of a round is determined, whatever the network's order.
struct Action {
  enum class Kind {
    put,
    put_value,
    put_signal,
    long_request,
    get,
    atomic,
    signal,
    short_request,
    medium_request
  };
  Kind kind;
  Form form;       ///< of puts, gets and atomics
  bool at_return;  ///< puts: the source is overwritten after the call
  Rank actor;
  Rank target;
  std::uint64_t offset;  ///< in the target's data, or the counter's index
  std::uint64_t bytes;
  std::uint64_t number;  ///< the pattern that is written, or the number that is added
};

/// The amount of memory, counters and signals on each rank.
struct ProgramShape {
  Rank ranks = 2;
  std::size_t data_bytes = 128 * 1024;
  std::size_t medium_bytes = 100;  ///< the largest medium payload to use; every conduit allows it

  static constexpr std::uint64_t kCounters = 16;  ///< of 8 bytes, behind the data
  static constexpr std::uint64_t kSignals = 16;
  std::size_t segment_bytes() const noexcept { return data_bytes + 8 * kCounters; }
};

/// The actions of all ranks in one round.
std::vector<Action> actions_of(const ProgramShape& shape, std::uint64_t seed, std::uint64_t round);

/// The contents of every rank's memory: the model.
struct ProgramModel {
  explicit ProgramModel(const ProgramShape& shape);
  void apply(const Action& action);

  struct RankState {
    std::vector<std::byte> data;
    std::vector<std::uint64_t> counters;
    std::vector<std::uint64_t> signals;
    std::uint64_t messages = 0;  ///< number handled
    std::uint64_t sum = 0;       ///< of their numbers
  };
  std::vector<RankState> ranks;
};

/// Plays `rounds` rounds as one rank, and checks after each. Fails by
/// GoogleTest assertions, which name round and action.
void play(Endpoint& me, const ProgramShape& shape, std::uint64_t seed, std::uint64_t rounds);

}  // namespace aqueduct::conformance
