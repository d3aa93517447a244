#include "conduits/ibv/memory.hpp"

#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/pages.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace aqueduct::conduits::ibv {

Result<std::vector<std::byte>> Memory::add_segment(SegmentId id, core::MutableBytes memory) {
  if (memory.empty()) return ErrorCode::not_supported;  // no peer will access it
  if (memory.size() > most_) {
    log_.warn(
        "ibv: rank {}: segment {} of {} bytes is longer than the device registers at once ({}); it goes by "
        "messages: several shorter segments would be faster",
        me_, id, memory.size(), most_);
    return ErrorCode::not_supported;
  }
  if (id >= segments_.size()) segments_.resize(id + std::size_t{1});
  Segment& segment = segments_[id];
  populate(memory, large_pages_);
  segment.region = add(memory, access_ | IBV_ACCESS_LOCAL_WRITE);
  if (segment.region == nullptr && errno == ENOMEM) {
    segment.region = add_on_demand(memory, access_ | IBV_ACCESS_LOCAL_WRITE);
  }
  if (segment.region == nullptr) {
    const int error = errno;
    log_.error("ibv: rank {}: the device does not register segment {} of {} bytes: {}. {}", me_, id,
               memory.size(), std::strerror(error), advice_for_errno(error));
    segment = {};
    return code_of_errno(error);
  }
  segment.memory = memory;
  by_address_.add(id, memory);
  const Key key{job_, reinterpret_cast<std::uint64_t>(memory.data()), memory.size(), segment.region->rkey,
                id};
  std::vector<std::byte> blob(sizeof key);
  std::memcpy(blob.data(), &key, sizeof key);
  return blob;
}

void Memory::remove_segment(SegmentId id) noexcept {
  if (id >= segments_.size()) return;
  by_address_.remove(id, segments_[id].memory.data());
  segments_[id] = {};
}

Result<std::uint64_t> Memory::import(Rank peer, core::Bytes blob) {
  Key key;
  if (blob.size() != sizeof key) return {ErrorCode::not_supported, peer};
  std::memcpy(&key, blob.data(), sizeof key);
  if (key.job != job_) {
    log_.error("ibv: rank {}: the key of rank {}'s segment {} is of another job", me_, peer, key.id);
    return {ErrorCode::not_supported, peer};
  }
  return remote_.add(key);
}

Owned<ibv_mr> Memory::add(core::MutableBytes memory, int access) noexcept {
  errno = 0;
  return {verbs_.reg_mr(&domain_, memory.data(), memory.size(), access), {verbs_.dereg_mr}};
}

// On-demand paging is the second choice, because with pinned memory the device never waits for a page. Null, and errno.
Owned<ibv_mr> Memory::add_on_demand(core::MutableBytes memory, int access) noexcept {
  const bool can = (access & IBV_ACCESS_REMOTE_ATOMIC) != 0 ? paging_.atomics : paging_.transfers;
  if (!can) {
    errno = ENOMEM;
    return {nullptr, {verbs_.dereg_mr}};
  }
  Owned<ibv_mr> region = add(memory, access | IBV_ACCESS_ON_DEMAND);
  if (region != nullptr && !std::exchange(pages_on_demand_, true)) {
    log_.warn(
        "ibv: rank {}: {} bytes cannot be pinned, so the device gets their pages when it needs them "
        "(on-demand paging), which is slower; so will more that cannot be. `ulimit -l unlimited` before the "
        "job "
        "starts (memlock in /etc/security/limits.conf)",
        me_, memory.size());
  }
  return region;
}

Owned<ibv_mr> Memory::add_local(core::MutableBytes memory, core::LocalUse use, int& error) noexcept {
  const int access = use == core::LocalUse::write ? local_access_ : 0;
  Owned<ibv_mr> region = add(memory, access);
  // With on-demand paging the device would notice a page that cannot be written only in the middle of a transfer. So
  // the system is asked for writable pages first.
  if (region == nullptr && errno == ENOMEM && paging_.transfers) {
    if (give_pages(memory)) region = add_on_demand(memory, access);
    if (region == nullptr) errno = ENOMEM;
  }
  if (region == nullptr) error = errno != 0 ? -errno : -ENOMEM;
  return region;
}

std::optional<std::uint32_t> Memory::key_in_segment(core::Bytes buffer) const noexcept {
  const auto id = by_address_.find(buffer);
  if (!id) return std::nullopt;
  return segments_[*id].region->lkey;
}

}  // namespace aqueduct::conduits::ibv
