// Registered memory of the mock network.

#include "conduits/ibv/tests/mock_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

namespace aqueduct::conduits::ibv::mock {

ibv_pd* Calls::alloc_pd(ibv_context* context) {
  auto* const domain = new ibv_pd{};
  domain->context = context;
  return domain;
}

int Calls::dealloc_pd(ibv_pd* domain) {
  delete domain;
  return 0;
}

ibv_mr* Calls::reg_mr(ibv_pd* domain, void* memory, std::size_t bytes, int access) {
  const Lock lock(current->mutex_);
  if (current->faults.gone) return refuse<ibv_mr>(ENODEV);
  if ((access & IBV_ACCESS_ON_DEMAND) != 0) {
    if (device_of(domain->context).pages_on_demand == 0) return refuse<ibv_mr>(EOPNOTSUPP);
    current->on_demand_ += bytes;
  } else {
    if (current->locked_ + bytes > current->faults.lockable) return refuse<ibv_mr>(ENOMEM);
    current->locked_ += bytes;
    current->peak_ = std::max(current->peak_, current->locked_);
  }
  const std::uint32_t key = current->next_++;
  auto region = std::make_unique<ibv_mr>();
  *region = {domain->context, domain, memory, bytes, 0, key, key};
  return (current->regions_[key] = {std::move(region), access}).what.get();
}

int Calls::dereg_mr(ibv_mr* region) {
  const Lock lock(current->mutex_);
  const auto found = current->regions_.find(region->lkey);
  const bool pinned = (found->second.access & IBV_ACCESS_ON_DEMAND) == 0;
  (pinned ? current->locked_ : current->on_demand_) -= region->length;
  current->regions_.erase(found);
  return 0;
}

}  // namespace aqueduct::conduits::ibv::mock
