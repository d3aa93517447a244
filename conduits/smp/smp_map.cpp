#include "conduits/smp/smp_map.hpp"

#include "conduits/smp/cma.hpp"
#include "conduits/smp/sleep.hpp"
#include "conduits/smp/smp_network.hpp"

#include <cstring>
#include <new>

namespace aqueduct::conduits::smp {
namespace {

/// The beginning of an exported key. Ranks of the same process use the address; others the key of the shared memory,
/// which follows.
struct Head {
  std::uint64_t process;
  std::uint64_t address;
};

}  // namespace

Result<core::MutableBytes> MappedSegments::allocate(std::uint32_t number, std::size_t bytes) {
  if (bytes == 0) return core::MutableBytes{};
  std::vector<std::byte> key;
  const auto memory = network_.allocate(me_, number, bytes, key);
  if (!memory) return memory;
  try {
    keys_[memory->data()] = std::move(key);
  } catch (const std::bad_alloc&) {
    network_.release(*memory);
    return ErrorCode::no_memory;
  }
  return memory;
}

core::CrossMap::Room MappedSegments::room() const {
  return {SharedMemory::most(), SharedMemory::room(*network_.process().config)};
}

void MappedSegments::release(core::MutableBytes memory) noexcept {
  keys_.erase(memory.data());
  network_.release(memory);
}

std::vector<std::byte> MappedSegments::export_map(SegmentId id, core::MutableBytes memory, bool allocated) {
  if (memory.empty()) return {};
  if (!allocated) attachments_.attached(id, memory);
  const Head head{network_.mark(), reinterpret_cast<std::uint64_t>(memory.data())};
  const auto* bytes = reinterpret_cast<const std::byte*>(&head);
  std::vector<std::byte> key(bytes, bytes + sizeof head);
  if (const auto found = keys_.find(memory.data()); allocated && found != keys_.end())
    key.insert(key.end(), found->second.begin(), found->second.end());
  return key;
}

Result<std::byte*> MappedSegments::map(Rank peer, core::Bytes key, std::size_t) {
  Head head;
  if (key.size() < sizeof head) return ErrorCode::internal;
  std::memcpy(&head, key.data(), sizeof head);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a pointer of this process, which was sent as a number
  if (head.process == network_.mark()) return reinterpret_cast<std::byte*>(head.address);
  if (key.size() == sizeof head) return ErrorCode::not_supported;  // attached memory of another process
  return network_.map(peer, key.subspan(sizeof head));
}

// A segment of a rank in this process was not mapped but used in place. Its memory may be gone by now, and its address
// may belong to another object.
void MappedSegments::unmap(Rank peer, std::byte* at) noexcept {
  if (!network_.in_this_process(peer)) network_.unmap(at);
}

void MappedSegments::wake(Rank peer) noexcept {
  const std::uint32_t local = network_.local_of(peer);
  if (local >= arena_->ranks()) return;
  // A sleeper waits for counters that others raise by atomic read-modify-writes. Without membarrier these instructions
  // are sufficient barriers on all machines that we know.
  wake_if_asleep(arena_->block(local), network_.has_membarrier());
}

core::CrossMap::Sleeper MappedSegments::sleeper(Rank peer) const noexcept {
  const std::uint32_t local = network_.local_of(peer);
  if (local >= arena_->ranks()) return {};
  return {&arena_->block(local).sleeping, network_.has_membarrier()};
}

std::vector<std::byte> MappedSegments::export_process() { return cma_.key_of_process(); }

bool MappedSegments::in_this_process(Rank peer) const noexcept { return network_.in_this_process(peer); }

}  // namespace aqueduct::conduits::smp
