#pragma once

#include <aqueduct/network_model.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::perf {

/// What was measured of puts of one size, in nanoseconds.
struct MeasuredSize {
  std::uint64_t bytes = 0;
  double overhead = 0;  ///< of the initiator's processor, for a put
  double one_way = 0;   ///< from the post of a put with signal to its notice: half of a round trip
  double interval = 0;  ///< between two puts of a long stream
};

/// The parameters of LogGP that explain measurements: in rising order of sizes, at least two.
///
/// Sizes are taken in pairs, (0, 1), (2, 3), …: each pair gives one line of the model, which applies from its first size
/// on. G is the rise of the interval in a pair; where a processor posts more slowly than a port sends, the interval says
/// nothing of the port, and g and G are those of the next pair. L is what is left of the way of the smaller size.
std::vector<NetworkCost> fit_costs(const std::vector<MeasuredSize>& sizes);

/// The size from which on puts go another way: the first one whose time is longer, by more than a quarter, than the line
/// through the two sizes before it predicts. 0: there is none.
std::uint64_t rendezvous_limit(const std::vector<MeasuredSize>& sizes);

/// The smallest size that reaches 90 % of the best bandwidth.
std::uint64_t peak_bytes(const std::vector<MeasuredSize>& sizes);

}  // namespace aqueduct::perf
