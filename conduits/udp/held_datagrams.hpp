#pragma once

#include "conduits/udp/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace aqueduct::conduits::udp {

/// Copies of datagrams, each to be delivered at its time; those of one time in the order in which they came.
/// Memory is bounded, used again, and 64-byte aligned.
class HeldDatagrams {
 public:
  static constexpr std::size_t kMostBytes = 64 << 20;  // chosen: a gigabyte per second for 60 ms

  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete (memory, std::align_val_t{64}); }
  };
  struct Datagram {
    Time due = 0;
    std::uint64_t order = 0;
    std::unique_ptr<std::byte, Free> memory;
    std::size_t room = 0;  // of the memory
    std::size_t bytes = 0;

    std::span<std::byte> span() const noexcept { return {memory.get(), bytes}; }
  };

  HeldDatagrams();

  /// Keeps a copy; returns it, or an empty span where there is no memory left.
  std::span<std::byte> hold(Time due, std::span<const std::byte> bytes) noexcept;
  /// When the next is to be delivered, or kNever.
  Time due() const noexcept { return heap_.empty() ? kNever : heap_.front().due; }
  /// Takes the next out. There must be one. Give it back when it is over.
  Datagram take() noexcept;
  void give_back(Datagram datagram) noexcept;

 private:
  static constexpr std::array<std::size_t, 3> kRooms{2048, 16 * 1024, 64 * 1024};

  std::vector<Datagram> heap_;                              // the earliest in front
  std::array<std::vector<Datagram>, kRooms.size()> spare_;  // memory to use again
  std::size_t memory_bytes_ = 0;                            // in the heap, outside, and spare
  std::uint64_t order_ = 0;
};

}  // namespace aqueduct::conduits::udp
