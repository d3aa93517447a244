#pragma once

#include "conduits/ucx/library.hpp"
#include "conduits/ucx/pending.hpp"
#include "conduits/ucx/wire.hpp"

#include <cstddef>
#include <vector>

namespace aqueduct::conduits::ucx {

/// One peer, as an endpoint sees it. Its UCP endpoint is made at the first use.
struct Peer {
  std::vector<std::byte> address;  ///< of its worker; empty: another conduit serves it
  ucp_ep_h ep = nullptr;
  UcxConduit* owner = nullptr;
  Rank rank = kNoRank;
  /// UCX watches this connection, and ends what is on its way if it breaks. It cannot where memory is shared.
  bool watched = true;
  bool gone = false;    ///< lost, and everything of it has been settled
  bool failed = false;  ///< UCX has said so, and it is still to be settled
  ucs_status_t why = UCS_OK;

  std::size_t packets = 0;  ///< on their way out
  Pending* puts = nullptr;  ///< begun since the last flush
  bool is_dirty = false;    ///< in the list of those with such puts
  unsigned flushes = 0;     ///< on their way

  std::vector<PutDone> answers;  ///< to its puts, still to be sent
};

}  // namespace aqueduct::conduits::ucx
