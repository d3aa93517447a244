#pragma once

#include "sim/network.hpp"

#include <cstdint>
#include <string>

namespace aqueduct::sim {

/// The bytes that this process may still take: of the machine, with what the system can drop, and of its limit of addresses
/// (`ulimit -v`). 0: not known.
std::uint64_t free_memory();

/// Checks that there is so much free memory. `what` needs it. Errors: BadInput, which names `what` and the memory.
void need_memory(std::uint64_t bytes, const std::string& what);

/// Checks that `limit` bytes hold as many ranks, of which n need bytes_of(n). 0: no limit. Errors: BadInput, which says how many fit.
template <class BytesOf>
void check_ranks(Rank ranks, std::uint64_t limit, const BytesOf& bytes_of) {
  if (limit == 0 || bytes_of(ranks) <= limit) return;
  Rank fits = 0;
  Rank not_fits = ranks;
  while (fits + 1 < not_fits) {
    const Rank middle = fits + (not_fits - fits) / 2;
    (bytes_of(middle) <= limit ? fits : not_fits) = middle;
  }
  throw BadInput(std::to_string(ranks) + " ranks need " + std::to_string((bytes_of(ranks) >> 20) + 1) +
                 " MiB, but " + std::to_string(limit >> 20) + " MiB are free: about " + std::to_string(fits) +
                 " ranks fit");
}

}  // namespace aqueduct::sim
