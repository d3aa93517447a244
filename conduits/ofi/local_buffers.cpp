#include "conduits/ofi/local_buffers.hpp"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <new>

namespace aqueduct::conduits::ofi {

int LocalBuffers::add(core::MutableBytes memory, void*& descriptor) noexcept try {
  own_.reserve(own_.size() + 1);
  int error = 0;
  auto region = registrations_.add_local(memory, core::LocalUse::write, error);
  if (error != 0) return error;
  descriptor = ::fi_mr_desc(region.get());
  own_.push_back(std::move(region));
  return 0;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
}

bool LocalBuffers::lend(Request& request, core::Bytes buffer, core::LocalUse use, void*& descriptor,
                        std::int64_t& answer) noexcept {
  if ((descriptor = registrations_.descriptor_in_segment(buffer)) != nullptr) return true;
  int error = 0;
  Registration* const borrowed = cache_.borrow(buffer, use, error);
  answer = error;
  if (borrowed == nullptr) return false;
  *std::ranges::find(request.borrowed, nullptr) = borrowed;
  descriptor = descriptor_of(*borrowed);
  return true;
}

}  // namespace aqueduct::conduits::ofi
