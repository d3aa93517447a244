#include "conduits/smp/arena.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>

namespace aqueduct::conduits::smp {
namespace {

std::size_t arena_bytes(std::uint32_t ranks, const RingShape& shape) noexcept {
  return sizeof(ArenaHead) + ranks * sizeof(RankBlock) + std::size_t{ranks} * ranks * shape.bytes();
}

/// There is a ring for each pair, so the more ranks, the smaller the rings.
RingShape choose_shape(const Config& config, std::uint32_t ranks) noexcept {
  RingShape shape{};
  shape.slots = static_cast<std::uint32_t>(config.number("smp_slots"));
  shape.data_bytes = static_cast<std::uint32_t>(config.number("smp_ring_bytes"));
  if (shape.slots == 0) shape.slots = ranks <= 16 ? 256 : ranks <= 64 ? 128 : 64;
  if (shape.data_bytes == 0) shape.data_bytes = ranks <= 16 ? 64 * 1024 : ranks <= 64 ? 32 * 1024 : 16 * 1024;
  shape.slots = std::bit_ceil(shape.slots);
  shape.data_bytes = std::bit_ceil(shape.data_bytes);
  return shape;
}

}  // namespace

Result<std::unique_ptr<Arena>> Arena::create(const core::Process& process, std::uint32_t local_ranks) {
  const RingShape shape = choose_shape(*process.config, local_ranks);
  auto memory = SharedMemory::create(process, "arena-" + std::to_string(process.mine.front()),
                                     arena_bytes(local_ranks, shape),
                                     "make its rings smaller (AQUEDUCT_SMP_SLOTS, AQUEDUCT_SMP_RING_BYTES)");
  if (!memory) return memory.status();
  auto* head = reinterpret_cast<ArenaHead*>(memory->data());
  head->magic = kMagic;
  head->version = kArenaVersion;
  head->ranks = local_ranks;
  head->ring = shape;
  return std::unique_ptr<Arena>(new Arena(std::move(*memory)));
}

Result<std::unique_ptr<Arena>> Arena::attach(const core::Process& process, std::span<const std::byte> key,
                                             std::uint32_t local_ranks) {
  std::string why;
  auto memory = SharedMemory::open(key, why);
  if (!memory) {
    if (!why.empty()) process.log->error("the shared memory of this host's ranks cannot be opened: {}", why);
    return memory.status();
  }
  std::unique_ptr<Arena> arena(new Arena(std::move(*memory)));
  const ArenaHead& head = arena->head();
  if (head.magic != kMagic || head.version != kArenaVersion || head.ranks != local_ranks) {
    process.log->error(
        "the shared memory of this host's ranks was made by another version of Aqueduct ({}, here {}); start "
        "one version",
        head.version, kArenaVersion);
    return ErrorCode::version_mismatch;
  }
  return arena;
}

std::byte* Arena::ring(std::uint32_t from, std::uint32_t to) const noexcept {
  const std::size_t index = std::size_t{to} * ranks() + from;
  return memory_.data() + sizeof(ArenaHead) + ranks() * sizeof(RankBlock) + index * ring_shape().bytes();
}

// Record locks of the process, not locks of the open file: they end with the process, and a forked child does not
// inherit them. Closing any descriptor of the file would release them, but this process has only one.
Status Arena::lock_life(std::uint32_t local) noexcept {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = local;
  lock.l_len = 1;
  return ::fcntl(memory_.descriptor(), F_SETLK, &lock) == 0 ? Status{} : Status(ErrorCode::network_failed);
}

bool Arena::lives(std::uint32_t local) const noexcept {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = local;
  lock.l_len = 1;
  if (::fcntl(memory_.descriptor(), F_GETLK, &lock) != 0) return true;  // unknown: assume alive
  return lock.l_type != F_UNLCK;
}

}  // namespace aqueduct::conduits::smp
