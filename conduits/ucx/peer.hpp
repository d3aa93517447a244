#pragma once

#include "conduits/ucx/library.hpp"
#include "conduits/ucx/pending.hpp"
#include "conduits/ucx/wire.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Whether what UCX has refused may work later: what was begun ends, and others give memory back.
constexpr bool no_room(ucs_status_t status) noexcept {
  return status == UCS_ERR_NO_RESOURCE || status == UCS_ERR_NO_MEMORY;
}

class Peers;

/// One peer, as an endpoint sees it. Its UCP endpoint is made at the first use.
struct Peer {
  std::vector<std::byte> address;  ///< of its worker; empty: another conduit serves it
  ucp_ep_h ep = nullptr;
  Peers* owner = nullptr;
  Rank rank = kNoRank;
  /// UCX watches this connection, and ends what is on its way if it breaks. It cannot where memory is shared.
  bool watched = true;
  bool gone = false;    ///< lost: it is used no more, though UCX may still have what was on its way
  bool failed = false;  ///< UCX has said so, and it is still to be settled
  ucs_status_t why = UCS_OK;

  ucs_status_ptr_t closing = nullptr;  ///< the end of a lost connection
  std::chrono::steady_clock::time_point
      give_up;  ///< of a lost one: UCX has said by then what it will ever say

  std::size_t packets = 0;     ///< on their way out
  std::size_t operations = 0;  ///< under way
  Pending* puts = nullptr;     ///< begun since the last flush
  bool is_dirty = false;       ///< in the list of those with such puts
  unsigned flushes = 0;        ///< on their way

  std::vector<PutDone> answers;  ///< to its puts, still to be sent
};

}  // namespace aqueduct::conduits::ucx
