#include "conduits/ibv/environment.hpp"

#include "conduits/ibv/errors.hpp"

#include <cstring>

namespace aqueduct::conduits::ibv {

Status Environment::refused(const char* what, int error) const noexcept {
  log.error("ibv: rank {}: {} refuses {}: {}. {}", me, port.device, what, std::strerror(error),
            advice_for_errno(error));
  return code_of_errno(error);
}

}  // namespace aqueduct::conduits::ibv
