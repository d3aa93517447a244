#include "core/wiped_memory.hpp"

#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace aqueduct::core {
namespace {

std::size_t whole_pages(std::size_t bytes) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

WipedMemory::WipedMemory(std::size_t kept, std::size_t wiped)
    : kept_(whole_pages(kept)), wiped_(whole_pages(wiped)) {
  void* const at = ::mmap(nullptr, kept_ + wiped_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  border_ = static_cast<std::byte*>(at) + kept_;
  wipes_ = ::madvise(border_, wiped_, MADV_WIPEONFORK) == 0;
}

WipedMemory::~WipedMemory() { ::munmap(border_ - kept_, kept_ + wiped_); }

}  // namespace aqueduct::core
