#pragma once

#include "bench/peers/mpi_vis/library.hpp"

#include <chrono>
#include <functional>
#include <vector>

namespace peers {

/// Nanoseconds per operation; for an exchange, half of the round trip.
struct Figure {
  double median = 0;  ///< of the turns' medians
  double p10 = 0;     ///< over all samples
  double p90 = 0;
};

struct Patience {
  int turns = 7;
  std::chrono::milliseconds turn{30};  ///< time of one library in one row
};

/// Lets both ranks meet between two libraries' turns.
using Meeting = std::function<void()>;

/// Measures one row: checks what both libraries move, then lets them take turns. Returns a
/// figure for each, in their order. Collective.
///
/// Rank 0's figures count. A wrong byte, before or after the measurement, ends the program.
std::vector<Figure> measure(const std::vector<Library*>& libraries, Operation operation, const Layout& layout,
                            const Patience& patience, const Meeting& meet);

}  // namespace peers
