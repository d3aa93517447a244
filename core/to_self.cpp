#include "core/to_self.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

namespace aqueduct::core {
namespace {

/// Precedes each packet and each signal in the buffer.
struct Head {
  std::uint64_t bytes = 0;  // length of the packet that follows; 0: a signal follows
  std::uint64_t zero = 0;
};

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

}  // namespace

ToSelf::ToSelf(std::size_t bytes)
    : capacity_(padded(bytes)),
      filling_{std::unique_ptr<std::byte[]>(new std::byte[capacity_]), 0},
      delivering_{std::unique_ptr<std::byte[]>(new std::byte[capacity_]), 0} {}

std::byte* ToSelf::room(std::size_t bytes) noexcept {
  const std::size_t all = sizeof(Head) + padded(bytes);
  if (all > capacity_ - filling_.used) return nullptr;
  std::byte* const at = filling_.bytes.get() + filling_.used;
  filling_.used += all;
  return at;
}

bool ToSelf::packet(Bytes header, Bytes payload) noexcept {
  const Head head{header.size() + payload.size(), 0};
  std::byte* const at = room(head.bytes);
  if (at == nullptr) return false;
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + sizeof head, header.data(), header.size());
  if (!payload.empty()) std::memcpy(at + sizeof head + header.size(), payload.data(), payload.size());
  return true;
}

bool ToSelf::has_room_for_signal() const noexcept {
  return sizeof(Head) + padded(sizeof(Signal)) <= capacity_ - filling_.used;
}

bool ToSelf::signal(Signal signal) noexcept {
  const Head head{};
  std::byte* const at = room(sizeof signal);
  if (at == nullptr) return false;
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + sizeof head, &signal, sizeof signal);
  return true;
}

int ToSelf::deliver(Rank me, Inbox& inbox) noexcept {
  std::swap(filling_, delivering_);
  int found = 0;
  for (std::size_t at = 0; at < delivering_.used; ++found) {
    const std::byte* const thing = delivering_.bytes.get() + at;
    Head head;
    std::memcpy(&head, thing, sizeof head);
    if (head.bytes != 0) {
      inbox.packet(me, {thing + sizeof head, head.bytes});
      at += sizeof head + padded(head.bytes);
    } else {
      Signal signal;
      std::memcpy(&signal, thing + sizeof head, sizeof signal);
      inbox.signalled(me, signal);
      at += sizeof head + padded(sizeof signal);
    }
  }
  delivering_.used = 0;
  return found;
}

}  // namespace aqueduct::core
