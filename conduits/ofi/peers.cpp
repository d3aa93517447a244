#include "conduits/ofi/peers.hpp"

namespace aqueduct::conduits::ofi {

void Peers::learn(fid_av& av, std::vector<std::vector<std::byte>> addresses) {
  av_ = &av;
  addresses_ = std::move(addresses);
  peers_.assign(addresses_.size(), Peer{});
}

bool Peers::insert(Rank rank) noexcept {
  fi_addr_t at = FI_ADDR_NOTAVAIL;
  const int inserted = ::fi_av_insert(av_, addresses_[rank].data(), 1, &at, 0, nullptr);
  if (inserted != 1 || at == FI_ADDR_NOTAVAIL) {
    log_.error("ofi: rank {}: the provider does not take the address of rank {}: {}", me_, rank,
               inserted < 0 ? library_.text(inserted) : "it is not one of its own");
    return false;
  }
  peers_[rank].at = at;
  return true;
}

}  // namespace aqueduct::conduits::ofi
