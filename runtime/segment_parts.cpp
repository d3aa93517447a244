#include "runtime/segment_parts.hpp"

#include "runtime/parts.hpp"

#include <algorithm>
#include <cstdint>
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

PlainMemory& PlainMemory::operator=(PlainMemory&& other) noexcept {
  std::swap(span_, other.span_);
  return *this;
}

PlainMemory::~PlainMemory() {
  if (!span_.empty()) ::munmap(span_.data(), span_.size());
}

void PartOffer::write(BlobWriter& out, bool near, bool far) const {
  out.number(memory.size());
  out.number(memory.empty() ? 0 : reinterpret_cast<std::uintptr_t>(memory.data()));
  out.bytes(near ? map_key : Blob{});  // the near conduit maps, if there is one
  out.bytes(near ? near_key : Blob{});
  out.bytes(far ? far_key : Blob{});
}

core::CrossMap* mapper_of(EndpointState& state) noexcept {
  core::CrossMap* map = state.near != nullptr ? state.near->cross_map() : nullptr;
  return map == nullptr && state.far != nullptr ? state.far->cross_map() : map;
}

Result<LocalPart> allocate_part(EndpointParts& parts, std::size_t bytes) {
  EndpointState& state = parts.state;
  const std::uint32_t number = parts.allocations++;
  Status problem;
  if (bytes > PTRDIFF_MAX) {
    problem = ErrorCode::no_memory;
  } else if (core::CrossMap* map = mapper_of(state)) {
    auto memory = map->allocate(number, bytes);
    if (!memory) return memory.status();
    return LocalPart{*memory};
  } else {
    parts.plain.reserve(parts.plain.size() + 1);
    auto memory = PlainMemory::create(bytes);
    if (memory) {
      const LocalPart part{memory->span()};
      parts.plain.push_back(std::move(*memory));
      return part;
    }
    problem = memory.status();
  }
  state.log.error("this machine does not give a segment of {} bytes; ask for less (AQUEDUCT_SEGMENT_BYTES)",
                  bytes);
  return problem;
}

void free_part(EndpointParts& parts, const LocalPart& part) noexcept {
  if (part.attached) return;
  if (core::CrossMap* map = mapper_of(parts.state)) return map->release(part.memory);
  std::erase_if(parts.plain, [&](const PlainMemory& one) { return one.span().data() == part.memory.data(); });
}

Result<PartOffer> offer_part(EndpointParts& parts, SegmentId id, const LocalPart& part) {
  EndpointState& state = parts.state;
  PartOffer offer;
  offer.memory = part.memory;
  if (core::CrossMap* map = mapper_of(state))
    offer.map_key = map->export_map(id, part.memory, !part.attached);
  const auto key_of = [&](core::Conduit* conduit, Blob& key) -> Status {
    core::NativeRma* rma = conduit != nullptr ? conduit->rma() : nullptr;
    if (rma == nullptr || part.memory.empty()) return {};
    auto made = rma->register_segment(id, part.memory);
    if (made) key = std::move(*made);
    return made || made.status().code() == ErrorCode::not_supported ? Status{} : made.status();
  };
  Status status = key_of(state.near.get(), offer.near_key);
  if (status) status = key_of(state.far.get(), offer.far_key);
  if (status) return offer;
  withdraw_part(parts, id);
  return status;
}

void withdraw_part(EndpointParts& parts, SegmentId id) noexcept {
  for (core::Conduit* conduit : {parts.state.near.get(), parts.state.far.get()}) {
    if (conduit != nullptr && conduit->rma() != nullptr) conduit->rma()->unregister_segment(id);
  }
}

core::SegmentPart read_part(EndpointState& state, Rank rank, BlobReader& in) {
  core::SegmentPart part;
  part.bytes = in.number();
  part.base = in.number();
  Blob map_key = in.bytes();
  Blob near_key = in.bytes();
  Blob far_key = in.bytes();
  const bool is_near = state.near != nullptr && state.conduit_of[rank] == state.near.get();
  if (is_near && !far_key.empty()) {
    part.far = std::make_unique<core::SegmentPart>();
    part.far->bytes = part.bytes;
    part.far->base = part.base;
    part.far->rma_key = std::move(far_key);
  }
  part.rma_key = is_near ? std::move(near_key) : std::move(far_key);
  if (state.conduit_of[rank]->cross_map() != nullptr) part.map_key = std::move(map_key);
  return part;
}

namespace {

/// Whether other ranks need this rank's processor for atomics on its part: ranks that cannot map the part do.
bool serves_others(const EndpointState& state, const LocalPart& mine, const KnownParts& known) {
  const core::SegmentPart& my_part = known.parts[state.rank - known.first];
  for (Rank i = 0; i < known.parts.size(); ++i) {
    const Rank rank = known.first + i;
    if (rank == state.rank || known.parts[i].reach == core::SegmentPart::Reach::none) continue;
    // Attached memory has a key too, but only ranks of this process can map it.
    const bool maps =
        state.conduit_of[rank]->cross_map() != nullptr && !my_part.map_key.empty() && !mine.attached;
    if (!maps) return true;
  }
  return false;
}

}  // namespace

SegmentId add_segment(EndpointState& state, const LocalPart& mine, KnownParts known) {
  const bool quiet = state.atomics_by_processor && !serves_others(state, mine, known);
  const SegmentId id = state.segments.add(mine.memory, std::move(known.parts), known.first);
  state.segments[id].team = known.team;
  state.segments[id].attached = mine.attached;
  // An empty part is not mapped, also where the program has attached nothing at some address.
  std::byte* const at = mine.memory.empty() ? nullptr : mine.memory.data();
  state.segments.set_window(id, state.rank, at, mine.memory.size(), /*for_values=*/quiet);
  return id;
}

}  // namespace aqueduct::runtime
