#pragma once

#include "conduits/ucx/library.hpp"
#include "conduits/ucx/operation.hpp"
#include "conduits/ucx/wire.hpp"
#include "core/clock.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Whether a call that UCX refused may succeed later, when others have ended and given back memory.
constexpr bool no_room(ucs_status_t status) noexcept {
  return status == UCS_ERR_NO_RESOURCE || status == UCS_ERR_NO_MEMORY;
}

/// The answer to the layers above for a call that UCX refused like that.
constexpr core::Post retry_of(ucs_status_t status) noexcept {
  return core::Post::retry(status == UCS_ERR_NO_MEMORY ? ErrorCode::no_memory : ErrorCode::ok);
}

class Peers;

/// One peer, as an endpoint sees it. Its UCP endpoint is made at the first use.
struct Peer {
  std::vector<std::byte> address;  ///< its worker's; empty: another conduit serves it
  ucp_ep_h ep = nullptr;
  Peers* owner = nullptr;
  Rank rank = kNoRank;
  /// UCX watches this connection, and ends outstanding operations if it breaks. It cannot over shared memory.
  bool watched = true;
  bool gone = false;    ///< lost: nothing more is posted, though UCX may still have outstanding operations
  bool failed = false;  ///< the next poll reports it as lost
  ucs_status_t why = UCS_OK;

  ucs_status_ptr_t closing = nullptr;  ///< the request that closes a lost connection
  core::Clock::time_point give_up_at;  ///< once lost: UCX completes nothing after this time

  std::size_t packets = 0;     ///< outstanding
  std::size_t operations = 0;  ///< outstanding
  Operation* puts = nullptr;   ///< posted since the last flush
  bool is_dirty = false;       ///< Flushes has it in its list
  unsigned flushes = 0;        ///< outstanding

  std::vector<PutDone> answers;    ///< to its puts, still to be sent
  bool is_answering = false;       ///< PutMessages sends them next
  bool is_answering_late = false;  ///< PutMessages has it in its list of answers that may wait
};

}  // namespace aqueduct::conduits::ucx
