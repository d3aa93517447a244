#include "core/wiped_memory.hpp"

#include <algorithm>
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

WipedMemory::WipedMemory(std::size_t kept, std::size_t wiped, std::size_t writable)
    : kept_(whole_pages(kept)), wiped_(whole_pages(wiped)) {
  const bool all = whole_pages(writable) == wiped_;
  void* const at = ::mmap(nullptr, kept_ + wiped_, all ? PROT_READ | PROT_WRITE : PROT_READ,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  border_ = static_cast<std::byte*>(at) + kept_;
  wipes_ = ::madvise(border_, wiped_, MADV_WIPEONFORK) == 0;
  if (all) {
    writable_ = wiped_;
    return;
  }
  // Without this an idle rank, which writes a few bytes, would take a huge page.
  static_cast<void>(::madvise(at, kept_ + wiped_, MADV_NOHUGEPAGE));
  const bool kept_writable = kept_ == 0 || ::mprotect(at, kept_, PROT_READ | PROT_WRITE) == 0;
  if (kept_writable && extend(writable)) return;
  ::munmap(at, kept_ + wiped_);
  throw std::bad_alloc();
}

bool WipedMemory::extend(std::size_t bytes) noexcept {
  const std::size_t wanted = std::min(whole_pages(bytes), wiped_);
  if (wanted <= writable_) return true;
  if (::mprotect(border_ + writable_, wanted - writable_, PROT_READ | PROT_WRITE) != 0) return false;
  writable_ = wanted;
  return true;
}

WipedMemory::~WipedMemory() { ::munmap(border_ - kept_, kept_ + wiped_); }

}  // namespace aqueduct::core
