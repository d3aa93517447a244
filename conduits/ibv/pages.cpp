#include "conduits/ibv/pages.hpp"

#include "core/backoff.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <system_error>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

namespace aqueduct::conduits::ibv {
namespace {

// Since Linux 5.14. Earlier systems refuse it, and registering allocates the pages by itself.
constexpr int kPopulateWrite = 23;
// Chosen: less memory is not worth a thread; more threads only wait for the memory.
constexpr std::size_t kShare = 64 << 20;
constexpr std::size_t kMostThreads = 8;
constexpr std::uintptr_t kLargePage = 2 << 20;

}  // namespace

void populate(core::MutableBytes memory, bool large) noexcept {
  const auto up = [](std::uintptr_t at) { return (at + kLargePage - 1) & ~(kLargePage - 1); };
  const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t first = up(start);
  const std::uintptr_t end = (start + memory.size()) & ~(kLargePage - 1);
  if (first >= end) return;  // not even one large page
  // Refused where the system has no large pages; that is no error.
  if (large) static_cast<void>(::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
  const std::size_t cores = static_cast<std::size_t>(std::max(core::available_cores(), 1));
  const std::size_t shares =
      std::clamp<std::size_t>((end - first) / kShare, 1, std::min(cores, kMostThreads));
  const std::uintptr_t share = up((end - first) / shares);
  const auto give = [&](std::size_t i) noexcept {
    const std::uintptr_t from = first + i * share;
    if (from >= end) return;
    static_cast<void>(::madvise(reinterpret_cast<void*>(from), std::min(share, end - from), kPopulateWrite));
  };
  std::array<std::thread, kMostThreads> helpers;
  for (std::size_t i = 1; i < shares; ++i) {
    try {
      helpers[i] = std::thread(give, i);
    } catch (const std::system_error&) {
      give(i);  // the system gives no thread
    }
  }
  give(0);
  for (std::thread& helper : helpers) {
    if (helper.joinable()) helper.join();
  }
}

bool give_pages(core::MutableBytes memory) noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t first = start - start % static_cast<std::uintptr_t>(::getpagesize());
  return ::madvise(reinterpret_cast<void*>(first), start + memory.size() - first, kPopulateWrite) == 0;
}

}  // namespace aqueduct::conduits::ibv
