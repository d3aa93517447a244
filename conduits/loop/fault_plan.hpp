#pragma once

#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::loop {

/// What a FaultyNetwork does to its users: probabilities from 0 to 1, thrown for each rank by a seed.
struct FaultPlan {
  std::uint64_t seed = 1;

  // Within the contract: everything above a conduit must bear these.

  double refuse = 0;          ///< posts: answered `retry`, though there was room
  int refusals_in_a_row = 3;  ///< … but never more than so many times one after the other
  double delay = 0;           ///< packets: delivered late, by 1 … delay_polls polls
  int delay_polls = 8;
  double reorder = 0;  ///< packets: delivered after all others of the same poll
  double repair = 0;   ///< packets: lost at first, delivered when repair_polls polls have passed
  int repair_polls = 50;
  double post = 0;  ///< posts: answered `posted`, carried out and completed after 1 … post_polls polls
  int post_polls = 4;

  // Against the contract: a conformance suite must notice each of these.

  double duplicate = 0;      ///< posts: done a second time, later
  double lose = 0;           ///< posts: answered `done`, and not done
  double corrupt = 0;        ///< packets and puts: one byte differs
  double misdeliver = 0;     ///< packets: go to the next rank
  double no_completion = 0;  ///< posts: answered `posted`, done, and never completed
  /// Posts: answered `done`, and done later. The payload is read only then, so it must outlive the operation
  /// even if its user believes that it is over.
  double complete_early = 0;
  std::size_t overstate = 0;  ///< properties().max_packet is so many bytes too large

  // Which capabilities of the conduit underneath are passed on.

  bool keep_rma = true;
  bool keep_signal = true;
  bool keep_atomics = true;
  bool keep_cross_map = true;
};

}  // namespace aqueduct::conduits::loop
