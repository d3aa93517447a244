#pragma once

#include "conduits/udp/carrier/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace aqueduct::conduits::udp {

/// Copies of delayed datagrams, ordered by delivery time, then by arrival. Memory is bounded, reused, and 64-byte
/// aligned.
class DelayedDatagrams {
 public:
  static constexpr std::size_t kMostBytes = 64 << 20;  // chosen: a gigabyte per second for 60 ms

  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete (memory, std::align_val_t{64}); }
  };
  struct Datagram {
    Time due = 0;
    std::uint64_t order = 0;
    std::unique_ptr<std::byte, Free> memory;
    std::size_t room = 0;  // capacity of the memory
    std::size_t bytes = 0;

    std::span<std::byte> span() const noexcept { return {memory.get(), bytes}; }
  };

  DelayedDatagrams();

  /// Keeps a copy and returns it; an empty span if there is no memory left.
  std::span<std::byte> add(Time due, std::span<const std::byte> bytes) noexcept;
  /// Delivery time of the next datagram, or kNever.
  Time due() const noexcept { return heap_.empty() ? kNever : heap_.front().due; }
  /// Removes and returns the next datagram. Requires: there is one. Return its memory with `give_back`.
  Datagram take() noexcept;
  void give_back(Datagram datagram) noexcept;

 private:
  static constexpr std::array<std::size_t, 3> kRooms{2048, 16 * 1024, 64 * 1024};

  std::vector<Datagram> heap_;                              // the earliest in front
  std::array<std::vector<Datagram>, kRooms.size()> spare_;  // memory to reuse
  std::size_t memory_bytes_ = 0;                            // in the heap, with callers, and spare
  std::uint64_t order_ = 0;
};

}  // namespace aqueduct::conduits::udp
