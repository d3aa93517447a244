#include "am/raw_spaces.hpp"

#include "am/layer_handlers.hpp"

namespace aqueduct::am {

// FNV-1a of 64 bits, folded to 23. The low 16 bits must not be the number of a layer's handler: code that looks only at
// the handler's number, as that for atomics on a progress thread, would take the message for the layer's.
std::uint32_t RawSpaces::number_of(std::string_view name) noexcept {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  auto number = static_cast<std::uint32_t>((hash ^ (hash >> 23) ^ (hash >> 46)) & 0x7fffff);
  if ((number & 0xffff) < kFirstUserHandler) number += kFirstUserHandler;
  return number | 0x800000;
}

RawSpace& RawSpaces::add(std::string_view name, std::uint32_t number) {
  auto space = std::make_unique<RawSpace>();
  space->number = number;
  space->name = name;
  all_.push_back(std::move(space));
  return *all_.back();
}

}  // namespace aqueduct::am
