#include "conduits/ofi/requests.hpp"

#include <new>

namespace aqueduct::conduits::ofi {
namespace {

constexpr std::align_val_t kPage{4096};

}  // namespace

void Requests::FreePages::operator()(std::byte* memory) const noexcept { ::operator delete(memory, kPage); }

Requests::Requests(std::uint32_t count, std::size_t slot_bytes)
    : count_(count),
      left_(count),
      slot_bytes_(slot_bytes),
      requests_(std::make_unique<Request[]>(count)),
      slots_(static_cast<std::byte*>(::operator new (std::size_t{count} * slot_bytes, kPage))) {
  for (std::uint32_t i = count; i-- > 0;) {
    requests_[i].slot = slots_.get() + std::size_t{i} * slot_bytes;
    requests_[i].next = free_;
    free_ = &requests_[i];
  }
}

}  // namespace aqueduct::conduits::ofi
