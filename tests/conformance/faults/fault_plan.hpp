#pragma once

#include <cstddef>
#include <cstdint>

namespace aqueduct::conformance {

/// The faults of a FaultyNetwork. Units: probabilities from 0 to 1; each rank has its own random numbers, from the
/// seed.
struct FaultPlan {
  std::uint64_t seed = 1;

  // Allowed by the contract of conduits: the layers above must cope with these.

  double refuse = 0;          ///< posts: return `retry` although there is room
  int refusals_in_a_row = 3;  ///< … at most this often in succession
  /// Packets to other ranks: fail for want of memory, which counts as a refusal, though it should be called `retry`.
  double lack = 0;
  double delay = 0;  ///< packets: delivered 1 … delay_polls polls late
  int delay_polls = 8;
  double reorder = 0;  ///< packets: delivered after all others of the same poll
  double repair = 0;   ///< packets: lost and repaired: delivered repair_polls polls late
  int repair_polls = 50;
  double post = 0;  ///< posts: return `posted`; carried out and completed 1 … post_polls polls later
  int post_polls = 4;
  bool no_whole_words = false;  ///< properties().whole_words is none, so words take another way
  bool guard = false;           ///< a lock around posts and polls, and so properties().concurrent_posts

  // Violations of the contract: a conformance suite must detect each of these.

  double duplicate = 0;      ///< posts: carried out a second time, later
  double lose = 0;           ///< posts: return `done`, but are not carried out
  double corrupt = 0;        ///< packets and puts: one byte is changed
  double misdeliver = 0;     ///< packets: sent to the next rank instead
  double no_completion = 0;  ///< posts: return `posted` and are carried out, but never completed
  /// Posts: return `done`, but are carried out later. The payload is read only then: the test must keep it alive beyond
  /// the end of the operation.
  double complete_early = 0;
  std::size_t overstate = 0;  ///< properties().max_packet is too large by this many bytes

  // Which capabilities of the inner conduit are passed on.

  bool keep_rma = true;
  bool keep_signal = true;
  bool keep_atomics = true;
  bool keep_cross_map = true;
};

}  // namespace aqueduct::conformance
