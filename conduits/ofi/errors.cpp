#include "conduits/ofi/errors.hpp"

#include <rdma/fi_errno.h>

#include <cerrno>

namespace aqueduct::conduits::ofi {

ErrorCode code_of(int error) noexcept {
  switch (error) {
    case 0: return ErrorCode::ok;
    case FI_ECONNABORTED:
    case FI_ECONNREFUSED:
    case FI_ECONNRESET:
    case FI_EHOSTDOWN:
    case FI_EHOSTUNREACH:
    case FI_EIO:
    case FI_ENOENT:  // from `sockets`, after a connection has ended
    case FI_ENETUNREACH:
    case FI_ENOTCONN:
    case FI_ESHUTDOWN:
    case FI_ETIMEDOUT:
    case FI_ECANCELED:
    case EPIPE: return ErrorCode::peer_lost;
    case FI_ENOMEM: return ErrorCode::no_memory;
    case FI_ENOSYS:
    case FI_EOPNOTSUPP: return ErrorCode::not_supported;
    default: return ErrorCode::network_failed;
  }
}

}  // namespace aqueduct::conduits::ofi
