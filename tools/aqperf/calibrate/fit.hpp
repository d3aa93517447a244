#pragma once

#include <aqueduct/network_model.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::perf {

/// What was measured of puts of one size, in nanoseconds.
struct MeasuredSize {
  std::uint64_t bytes = 0;
  double overhead = 0;  ///< of the initiator's processor, for a put of several in a row
  double alone = 0;     ///< the same for a put with signal while nothing else is on its way
  double one_way = 0;   ///< from the post of a put with signal to its notice: half of a round trip
  double crossing = 0;  ///< the same while the peer does likewise, which L is taken from
  double interval = 0;  ///< between two puts of a long stream
};

/// Whether more trials would hardly change what is taken of these: the three shortest differ by 2 % at most.
bool have_settled(const std::vector<double>& trials);

/// What trials of one thing took: what else runs on the machine makes them longer, never shorter. If they have settled it is the
/// second shortest, otherwise the lower quartile. Requires: at least one trial.
double usual_of(std::vector<double> trials);

/// Takes no way and no interval as longer than those of more bytes: what else runs on a machine has made it longer.
void undisturb(std::vector<MeasuredSize>& sizes);

/// The parameters of LogGP that explain measurements: in rising order of sizes, at least two.
///
/// Each size but the last gives a line of the model, which applies from there on and is exact there: o + L + n·G is the
/// way of messages that cross, and g + n·G the interval. G is the rise of that way to the next size, but not so much that a
/// stream would be slower than it was at either size. o is the longer of the two overheads, without what G counts already.
/// Where a processor posts more slowly than a port sends, the interval says nothing of the port, and g is at most that of
/// the next size. The interval itself is kept too, as the least one of a stream.
std::vector<NetworkCost> fit_costs(const std::vector<MeasuredSize>& sizes);

/// The size from which on puts go another way: the first one whose time is longer, by more than a quarter, than the line
/// through the two sizes before it predicts. 0: there is none.
std::uint64_t rendezvous_limit(const std::vector<MeasuredSize>& sizes);

/// The smallest size that reaches 90 % of the best bandwidth.
std::uint64_t peak_bytes(const std::vector<MeasuredSize>& sizes);

}  // namespace aqueduct::perf
