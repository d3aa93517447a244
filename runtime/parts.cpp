#include "runtime/parts.hpp"

#include "runtime/layers.hpp"

#include <utility>

#include <sys/mman.h>

namespace aqueduct::runtime {

using aqueduct::detail::EndpointState;

Result<PlainMemory> PlainMemory::create(std::size_t bytes) {
  if (bytes == 0) return PlainMemory(std::span<std::byte>{});
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return ErrorCode::no_memory;
  return PlainMemory({static_cast<std::byte*>(at), bytes});
}

PlainMemory::PlainMemory(PlainMemory&& other) noexcept : span_(std::exchange(other.span_, {})) {}

PlainMemory::~PlainMemory() {
  if (!span_.empty()) ::munmap(span_.data(), span_.size());
}

EndpointParts::~EndpointParts() {
  end_layers(*this);
  state.near.reset();  // conduits end before the memory that peers may still read
  state.far.reset();
}

void PartOffer::write(BlobWriter& out, bool near, bool far) const {
  out.number(memory.size());
  out.number(reinterpret_cast<std::uintptr_t>(memory.data()) % 16);
  out.bytes(near ? map_key : Blob{});  // the near conduit maps, if there is one
  out.bytes(near ? near_key : Blob{});
  out.bytes(far ? far_key : Blob{});
}

namespace {

/// Whoever allocates memory that neighbours map; null if nobody does.
core::CrossMap* mapper(EndpointState& state) noexcept {
  core::CrossMap* map = state.near != nullptr ? state.near->cross_map() : nullptr;
  return map == nullptr && state.far != nullptr ? state.far->cross_map() : map;
}

}  // namespace

void withdraw_part(EndpointParts& parts, SegmentId id, const PartOffer& offer, bool own_memory) noexcept {
  EndpointState& state = parts.state;
  for (core::Conduit* conduit : {state.near.get(), state.far.get()}) {
    if (conduit != nullptr && conduit->rma() != nullptr) conduit->rma()->unregister_segment(id);
  }
  if (own_memory) return;
  if (core::CrossMap* map = mapper(state)) {
    map->release(id, offer.memory);
  } else {
    parts.plain.pop_back();
  }
}

Result<PartOffer> offer_part(EndpointParts& parts, SegmentId id, std::size_t bytes, std::byte* own_memory) {
  EndpointState& state = parts.state;
  core::CrossMap* map = mapper(state);
  PartOffer offer;
  if (own_memory != nullptr) {
    offer.memory = {own_memory, bytes};
  } else if (map != nullptr) {
    auto memory = map->allocate(id, bytes);
    if (!memory) return memory.status();
    offer.memory = *memory;
  } else {
    auto memory = PlainMemory::create(bytes);
    if (!memory) {
      state.log.error(
          "segment {}: this machine does not give {} bytes; ask for less (AQUEDUCT_SEGMENT_BYTES)", id,
          bytes);
      return memory.status();
    }
    offer.memory = memory->span();
    parts.plain.push_back(std::move(*memory));
  }
  if (map != nullptr) offer.map_key = map->export_map(id, offer.memory, own_memory == nullptr);
  const auto key_of = [&](core::Conduit* conduit, Blob& key) -> Status {
    core::NativeRma* rma = conduit != nullptr ? conduit->rma() : nullptr;
    if (rma == nullptr || bytes == 0) return {};
    auto made = rma->register_segment(id, offer.memory);
    if (made) key = std::move(*made);
    return made || made.status().code() == ErrorCode::not_supported ? Status{} : made.status();
  };
  Status status = key_of(state.near.get(), offer.near_key);
  if (status) status = key_of(state.far.get(), offer.far_key);
  if (status) return offer;
  withdraw_part(parts, id, offer, own_memory != nullptr);
  return status;
}

core::Part read_part(EndpointState& state, Rank rank, BlobReader& in) {
  core::Part part;
  part.bytes = in.number();
  part.phase = static_cast<std::uint8_t>(in.number() % 16);
  Blob map_key = in.bytes();
  Blob near_key = in.bytes();
  Blob far_key = in.bytes();
  const bool is_near = state.near != nullptr && state.conduit_of[rank] == state.near.get();
  if (is_near && !far_key.empty()) {
    part.far = std::make_unique<core::Part>();
    part.far->bytes = part.bytes;
    part.far->phase = part.phase;
    part.far->rma_key = std::move(far_key);
  }
  part.rma_key = is_near ? std::move(near_key) : std::move(far_key);
  if (state.conduit_of[rank]->cross_map() != nullptr) part.map_key = std::move(map_key);
  return part;
}

namespace {

/// Whether other ranks need this rank's processor for atomics on its part: all that cannot map it.
bool serves_others(const EndpointState& state, const core::Part& mine, bool attached) {
  for (Rank rank = 0; rank < state.ranks; ++rank) {
    // Memory of the program's own has a key too, but for ranks of this very process.
    const bool maps = state.conduit_of[rank]->cross_map() != nullptr && !mine.map_key.empty() && !attached;
    if (rank != state.rank && !maps) return true;
  }
  return false;
}

}  // namespace

SegmentId add_segment(EndpointState& state, std::span<std::byte> mine, std::vector<core::Part> parts,
                      bool attached) {
  const bool quiet = state.atomics_by_processor && !serves_others(state, parts[state.rank], attached);
  const SegmentId id = state.segments.add(mine, std::move(parts));
  state.segments.set_window(id, state.rank, mine.data(), mine.size(), /*for_values=*/quiet);
  state.publish_segments();
  return id;
}

}  // namespace aqueduct::runtime
