#include "conduits/ofi/peers.hpp"

#include <rdma/fi_errno.h>

namespace aqueduct::conduits::ofi {

void Peers::learn(fid_av& av, std::vector<std::vector<std::byte>> addresses) {
  av_ = &av;
  addresses_ = std::move(addresses);
  peers_.assign(addresses_.size(), Peer{});
}

int Peers::insert(Rank rank) noexcept {
  fi_addr_t at = FI_ADDR_NOTAVAIL;
  const int inserted = ::fi_av_insert(av_, addresses_[rank].data(), 1, &at, 0, nullptr);
  if (inserted < 0) return inserted;
  if (inserted != 1 || at == FI_ADDR_NOTAVAIL) return -FI_EADDRNOTAVAIL;
  peers_[rank].at = at;
  return 0;
}

}  // namespace aqueduct::conduits::ofi
