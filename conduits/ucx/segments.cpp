#include "conduits/ucx/segments.hpp"

#include "conduits/ucx/has_put_lane.hpp"
#include "conduits/ucx/info_text.hpp"
#include "conduits/ucx/wire.hpp"
#include "core/memory_probe.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace aqueduct::conduits::ucx {
namespace {

/// What UCX has given, and `release` gives back unless it is kept.
template <class Handle, class Release>
auto owned(Handle handle, Release release) {
  return std::unique_ptr<std::remove_pointer_t<Handle>, Release>(handle, release);
}

}  // namespace

Result<std::vector<std::byte>> Segments::add(SegmentId id, core::MutableBytes memory) {
  if (id >= segments_.size()) segments_.resize(id + std::size_t{1});
  if (const Memory* const allocation = allocation_at(memory.data())) {
    auto key = packed(id, memory, allocation->handle);
    if (key) segments_[id] = {memory, nullptr};  // `allocated_` has the handle
    return key;
  }
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory.data();
  params.length = memory.size();
  ucp_mem_h handle = nullptr;
  if (const ucs_status_t status = ucp_.mem_map(context_.handle(), &params, &handle); status != UCS_OK) {
    log_.warn(
        "ucx: rank {}: segment {} of {} bytes cannot be registered: {}. Messages carry its puts and gets, "
        "which is "
        "slower; a larger ulimit -l (locked memory), or a smaller segment, may help",
        me_, id, memory.size(), ucp_.status_string(status));
    return ErrorCode::not_supported;
  }
  auto mapped = owned(handle, [this](ucp_mem_h one) { ucp_.mem_unmap(context_.handle(), one); });
  auto key = packed(id, memory, handle);
  if (key) segments_[id] = {memory, mapped.release()};
  return key;
}

/// The bytes that peers need to reach this memory.
Result<std::vector<std::byte>> Segments::packed(SegmentId id, core::MutableBytes memory, ucp_mem_h handle) {
  void* form = nullptr;
  std::size_t bytes = 0;
  if (const ucs_status_t status = ucp_.rkey_pack(context_.handle(), handle, &form, &bytes);
      status != UCS_OK) {
    log_.warn("ucx: rank {}: segment {} has no key: {}. Messages carry its puts and gets, which is slower",
              me_, id, ucp_.status_string(status));
    return ErrorCode::not_supported;
  }
  const auto packed_by_ucx = owned(form, ucp_.rkey_buffer_release);
  const KeyHead head{reinterpret_cast<std::uint64_t>(memory.data()), id, this_process()};
  std::vector<std::byte> key(sizeof head + bytes);
  std::memcpy(key.data(), &head, sizeof head);
  std::memcpy(key.data() + sizeof head, form, bytes);
  return key;
}

void Segments::remove(SegmentId id) noexcept {
  if (id >= segments_.size()) return;
  const ucp_mem_h handle = std::exchange(segments_[id], {}).handle;
  if (handle != nullptr) ucp_.mem_unmap(context_.handle(), handle);
}

Result<std::uint64_t> Segments::import(Rank rank, core::Bytes key) {
  KeyHead head;
  if (rank >= peers_.size() || key.size() <= sizeof head) return {ErrorCode::not_supported, rank};
  std::memcpy(&head, key.data(), sizeof head);
  auto unpacked = owned(ucp_rkey_h{}, ucp_.rkey_destroy);
  bool by_network = false;
  if (rank != me_) {
    if (has_lost_memory(head.owner)) return {ErrorCode::peer_lost, rank};
    const core::Post way = peers_.reach(peers_[rank]);
    if (way.kind == core::Post::Kind::retry) return {ErrorCode::no_memory, rank};
    if (way.kind == core::Post::Kind::failed) return {way.why, rank};
    if (!core::gets_memory()) return {ErrorCode::no_memory, rank};  // UCX 1.13.1 crashes then
    ucp_rkey_h rkey = nullptr;
    const ucs_status_t status = ucp_.ep_rkey_unpack(peers_[rank].ep, key.data() + sizeof head, &rkey);
    if (status != UCS_OK) {
      log_.warn(
          "ucx: rank {}: a segment of rank {} cannot be reached directly: {}. Messages carry its puts and "
          "gets",
          me_, rank, ucp_.status_string(status));
      return {ErrorCode::not_supported, rank};
    }
    unpacked.reset(rkey);
    by_network =
        put_by_ == "network" || (put_by_ == "auto" && has_rma(peers_[rank], key.subspan(sizeof head)));
  }
  const std::uint64_t handle =
      remote_.add({head.address, unpacked.get(), static_cast<SegmentId>(head.segment), by_network});
  static_cast<void>(unpacked.release());  // `forget` destroys it
  return handle;
}

void Segments::forget(std::uint64_t handle) noexcept {
  if (const ucp_rkey_h rkey = remote_.remove(handle).rkey; rkey != nullptr) ucp_.rkey_destroy(rkey);
}

/// Whether UCX has a lane for puts to that memory. Without one UCX sends puts as messages, and does so worse than this conduit.
bool Segments::has_rma(const Peer& peer, core::Bytes packed) const {
  return has_put_lane(info_lines([&](std::FILE* out) { ucp_.ep_print_info(peer.ep, out); }), packed);
}

Result<core::MutableBytes> Segments::allocate(std::size_t bytes) {
  if (bytes == 0) return core::MutableBytes{};
  ucp_mem_map_params_t params{};
  params.field_mask =
      UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  params.address = nullptr;
  params.length = bytes;
  params.flags = UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK;
  ucp_mem_h handle = nullptr;
  ucp_mem_attr_t found{};
  found.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  ucs_status_t status = ucp_.mem_map(context_.handle(), &params, &handle);
  if (status == UCS_OK) status = ucp_.mem_query(handle, &found);
  if (status != UCS_OK) {
    if (handle != nullptr) ucp_.mem_unmap(context_.handle(), handle);
    log_.error(
        "ucx: rank {}: UCX gives no {} bytes of shared memory for a segment: {}. Ask for less "
        "(AQUEDUCT_SEGMENT_BYTES), "
        "raise the limits of System V shared memory (ipcs -lm), or set AQUEDUCT_UCX_MAP=off",
        me_, bytes, ucp_.status_string(status));
    return ErrorCode::no_memory;
  }
  const core::MutableBytes memory(static_cast<std::byte*>(found.address), bytes);
  try {
    allocated_[memory.data()] = {memory, handle};
  } catch (const std::bad_alloc&) {
    ucp_.mem_unmap(context_.handle(), handle);
    throw;
  }
  return memory;
}

void Segments::release(core::MutableBytes memory) noexcept {
  const auto allocation = allocated_.find(memory.data());
  if (memory.empty() || allocation == allocated_.end()) return;
  ucp_.mem_unmap(context_.handle(), allocation->second.handle);
  allocated_.erase(allocation);
}

std::vector<std::byte> Segments::key_of_allocated(SegmentId id, core::MutableBytes memory) {
  const Memory* const allocation = allocation_at(memory.data());
  if (allocation == nullptr) return {};
  auto key = packed(id, memory, allocation->handle);
  return key ? *std::move(key) : std::vector<std::byte>{};
}

const Segments::Memory* Segments::allocation_at(const std::byte* start) const noexcept {
  const auto found = allocated_.find(start);
  return found != allocated_.end() ? &found->second : nullptr;
}

Result<std::byte*> Segments::map(Rank rank, core::Bytes key) {
  KeyHead head;
  if (rank >= peers_.size() || key.size() <= sizeof head) return {ErrorCode::not_supported, rank};
  std::memcpy(&head, key.data(), sizeof head);
  if (rank == me_) return reinterpret_cast<std::byte*>(head.address);
  const core::Post way = peers_.reach(peers_[rank]);
  if (way.kind == core::Post::Kind::retry) return {ErrorCode::no_memory, rank};
  if (way.kind == core::Post::Kind::failed) return {way.why, rank};
  if (has_lost_memory(head.owner)) return {ErrorCode::peer_lost, rank};
  if (!core::gets_memory()) return {ErrorCode::no_memory, rank};  // UCX 1.13.1 crashes then
  ucp_rkey_h rkey = nullptr;
  void* place = nullptr;
  ucs_status_t status = ucp_.ep_rkey_unpack(peers_[rank].ep, key.data() + sizeof head, &rkey);
  auto unpacked = owned(rkey, ucp_.rkey_destroy);
  if (status == UCS_OK) status = ucp_.rkey_ptr(rkey, head.address, &place);
  if (status != UCS_OK) {
    log_.warn(
        "ucx: rank {}: segment {} of rank {} cannot be mapped: {}. Messages carry its puts and gets, which "
        "is slower; "
        "the limits of System V shared memory (ipcs -lm) may be reached",
        me_, head.segment, rank, ucp_.status_string(status));
    return {ErrorCode::not_supported, rank};
  }
  // The mapping ends with the key.
  auto* const at = static_cast<std::byte*>(place);
  const std::uint64_t handle = remote_.add({head.address, rkey, static_cast<SegmentId>(head.segment), false});
  try {
    mapped_[at] = handle;
  } catch (const std::bad_alloc&) {
    remote_.remove(handle);
    throw;
  }
  static_cast<void>(unpacked.release());
  return at;
}

void Segments::unmap(const std::byte* at) noexcept {
  const auto found = mapped_.find(at);
  if (found == mapped_.end()) return;
  forget(found->second);
  mapped_.erase(found);
}

void Segments::end() noexcept {
  for (const RemoteKey& key : remote_.all()) {
    if (key.rkey != nullptr) ucp_.rkey_destroy(key.rkey);
  }
  for (const Memory& one : segments_) {
    if (one.handle != nullptr) ucp_.mem_unmap(context_.handle(), one.handle);
  }
  for (const auto& [start, one] : allocated_) context_.keep(one.handle);
}

}  // namespace aqueduct::conduits::ucx
