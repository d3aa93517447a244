#include "conduits/ofi/requests.hpp"

#include <new>
#include <utility>

namespace aqueduct::conduits::ofi {
namespace {

constexpr std::align_val_t kSlotAlignment{4096};

}  // namespace

void Requests::FreePages::operator()(std::byte* memory) const noexcept {
  ::operator delete(memory, kSlotAlignment);
}

Requests::Requests(std::uint32_t count, std::size_t slot_bytes) : slot_bytes_(slot_bytes) {
  if (!add_block(count)) throw std::bad_alloc();
  hand_out(blocks_.front(), nullptr);
}

bool Requests::add_block(std::uint32_t count) noexcept {
  try {
    Block block;
    block.count = count;
    block.requests = std::make_unique<Request[]>(count);
    block.slots.reset(
        static_cast<std::byte*>(::operator new (std::size_t{count} * slot_bytes_, kSlotAlignment)));
    blocks_.push_back(std::move(block));
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void Requests::hand_out(Block& block, void* descriptor) noexcept {
  for (std::uint32_t i = block.count; i-- > 0;) {
    Request& request = block.requests[i];
    request.slot = block.slots.get() + std::size_t{i} * slot_bytes_;
    request.next = free_;
    free_ = &request;
  }
  available_ += block.count;
  describe(block, descriptor);
}

void Requests::describe(Block& block, void* descriptor) noexcept {
  for (Request& request : std::span(block.requests.get(), block.count)) request.descriptor = descriptor;
}

}  // namespace aqueduct::conduits::ofi
