#include "am/outbox.hpp"

#include <cstring>
#include <new>

#include <sys/mman.h>

namespace aqueduct::am {

Outbox::Outbox(std::size_t places, std::size_t place_bytes)
    : places_(places), place_bytes_((place_bytes + 63) & ~std::size_t{63}) {
  void* memory = ::mmap(nullptr, places_ * place_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
  entries_.resize(places_);
  free_.reserve(places_);
  waiting_.reserve(places_);
}

Outbox::~Outbox() { ::munmap(memory_, places_ * place_bytes_); }

std::uint32_t Outbox::keep(Rank to, core::Bytes head, core::Bytes payload, bool owes) noexcept {
  std::uint32_t place;
  if (!free_.empty()) {
    place = free_.back();
    free_.pop_back();
  } else {
    place = fresh_++;
  }
  std::byte* at = memory_ + place * place_bytes_;
  std::memcpy(at, head.data(), head.size());
  if (!payload.empty()) std::memcpy(at + core::kMostHeader, payload.data(), payload.size());
  entries_[place] = {to, static_cast<std::uint32_t>(head.size()), static_cast<std::uint32_t>(payload.size()),
                     owes};
  return place;
}

void Outbox::free(std::uint32_t place) noexcept { free_.push_back(place); }

core::Bytes Outbox::head(std::uint32_t place) const noexcept {
  return {memory_ + place * place_bytes_, entries_[place].head_bytes};
}

core::Bytes Outbox::payload(std::uint32_t place) const noexcept {
  return {memory_ + place * place_bytes_ + core::kMostHeader, entries_[place].payload_bytes};
}

}  // namespace aqueduct::am
