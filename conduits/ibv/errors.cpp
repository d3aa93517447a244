#include "conduits/ibv/errors.hpp"

#include <cerrno>

namespace aqueduct::conduits::ibv {

ErrorCode code_of(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_SUCCESS: return ErrorCode::ok;
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_ABORT_ERR:
    case IBV_WC_WR_FLUSH_ERR: return ErrorCode::peer_lost;
    default: return ErrorCode::network_failed;
  }
}

ErrorCode code_of_errno(int error) noexcept {
  switch (error) {
    case 0: return ErrorCode::ok;
    case ENOMEM:
    case EAGAIN: return ErrorCode::no_memory;
    case ENOSYS:
    case EOPNOTSUPP: return ErrorCode::not_supported;
    default: return ErrorCode::network_failed;
  }
}

std::string_view advice_for_errno(int error) noexcept {
  switch (error) {
    case ENOMEM:
    case EAGAIN:
      return "Registered memory and queues are locked: `ulimit -l unlimited` before the job starts (memlock "
             "in "
             "/etc/security/limits.conf), or ask for less (AQUEDUCT_SEGMENT_BYTES, fewer ranks on this host)";
    case EACCES:
    case EPERM:
      return "Who may open it: ls -l /dev/infiniband. With `ulimit -l 0` no memory can be registered: "
             "`ulimit -l unlimited` before the job starts";
    case ENODEV:
    case ENXIO:
    case EIO: return "The device has failed, or is gone: dmesg, `rdma link`";
    default: return {};
  }
}

std::string_view advice_for(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return "the peer's adapter does not answer: its process has ended, or the path is down, or a switch "
             "passes "
             "less than the MTU (AQUEDUCT_IBV_MTU), or needs more time (AQUEDUCT_IBV_TIMEOUT)";
    case IBV_WC_REM_OP_ERR: return "the peer's queue pair has failed or is gone; its process may say why";
    case IBV_WC_RNR_RETRY_EXC_ERR: return "the peer takes no messages";
    case IBV_WC_REM_ACCESS_ERR:
      return "the peer's adapter refuses that memory: the segment has been unregistered, or the key is of an "
             "earlier "
             "job";
    case IBV_WC_LOC_PROT_ERR:
      return "the local buffer was given back to the system before the operation had ended";
    case IBV_WC_LOC_LEN_ERR:
      return "a message was longer than AQUEDUCT_IBV_PACKET, which must be the same everywhere";
    case IBV_WC_REM_INV_REQ_ERR: return "AQUEDUCT_IBV_PACKET must be the same on all ranks";
    case IBV_WC_FATAL_ERR: return "the device has failed: see dmesg";
    default: return {};
  }
}

}  // namespace aqueduct::conduits::ibv
