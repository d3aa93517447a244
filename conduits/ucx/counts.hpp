#pragma once

#include <cstdint>

namespace aqueduct::conduits::ucx {

/// What an endpoint has posted to UCX so far.
struct Counts {
  std::uint64_t packets = 0;       ///< messages of the layers above
  std::uint64_t puts = 0;          ///< by the network
  std::uint64_t flushes = 0;       ///< that completed such puts
  std::uint64_t put_messages = 0;  ///< puts by message
  std::uint64_t answers = 0;       ///< messages that acknowledge puts, one or more each
  std::uint64_t gets = 0;
  std::uint64_t copied = 0;    ///< packets that arrived at an odd address
  std::uint64_t rejected = 0;  ///< messages of another job, or malformed ones
};

}  // namespace aqueduct::conduits::ucx
