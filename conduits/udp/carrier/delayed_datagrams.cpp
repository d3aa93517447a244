#include "conduits/udp/carrier/delayed_datagrams.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace aqueduct::conduits::udp {
namespace {

struct Later {
  bool operator()(const DelayedDatagrams::Datagram& a, const DelayedDatagrams::Datagram& b) const noexcept {
    return std::pair(a.due, a.order) > std::pair(b.due, b.order);
  }
};

}  // namespace

// Reserves as many entries as the memory bound allows, so that nothing grows later.
DelayedDatagrams::DelayedDatagrams() {
  heap_.reserve(kMostBytes / kRooms[0]);
  for (std::size_t i = 0; i < kRooms.size(); ++i) spare_[i].reserve(kMostBytes / kRooms[i]);
}

std::span<std::byte> DelayedDatagrams::add(Time due, std::span<const std::byte> bytes) noexcept {
  const auto size = static_cast<std::size_t>(
      std::ranges::find_if(kRooms, [&](std::size_t room) { return bytes.size() <= room; }) - kRooms.begin());
  if (size == kRooms.size()) return {};
  Datagram datagram;
  if (!spare_[size].empty()) {
    datagram = std::move(spare_[size].back());
    spare_[size].pop_back();
  } else {
    if (memory_bytes_ + kRooms[size] > kMostBytes) return {};
    datagram.memory.reset(
        static_cast<std::byte*>(::operator new (kRooms[size], std::align_val_t{64}, std::nothrow)));
    if (datagram.memory == nullptr) return {};
    datagram.room = kRooms[size];
    memory_bytes_ += kRooms[size];
  }
  datagram.due = due;
  datagram.order = order_++;
  datagram.bytes = bytes.size();
  std::memcpy(datagram.memory.get(), bytes.data(), bytes.size());
  const std::span<std::byte> copy = datagram.span();
  heap_.push_back(std::move(datagram));
  std::ranges::push_heap(heap_, Later{});
  return copy;
}

DelayedDatagrams::Datagram DelayedDatagrams::take() noexcept {
  std::ranges::pop_heap(heap_, Later{});
  Datagram datagram = std::move(heap_.back());
  heap_.pop_back();
  return datagram;
}

void DelayedDatagrams::give_back(Datagram datagram) noexcept {
  const auto size = static_cast<std::size_t>(std::ranges::find(kRooms, datagram.room) - kRooms.begin());
  spare_[size].push_back(std::move(datagram));
}

}  // namespace aqueduct::conduits::udp
