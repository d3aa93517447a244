#pragma once

#include <cstdint>

namespace aqueduct::conduits::ucx {

/// What an endpoint has asked of UCX so far.
struct Counts {
  std::uint64_t packets = 0;       ///< messages of the layers above
  std::uint64_t puts = 0;          ///< by the network
  std::uint64_t flushes = 0;       ///< that ended such puts
  std::uint64_t put_messages = 0;  ///< puts by message
  std::uint64_t answers = 0;       ///< messages that answer puts, of one or more
  std::uint64_t gets = 0;
  std::uint64_t copied = 0;    ///< packets that came to an odd address
  std::uint64_t rejected = 0;  ///< messages that were not of this job, or made no sense
};

}  // namespace aqueduct::conduits::ucx
