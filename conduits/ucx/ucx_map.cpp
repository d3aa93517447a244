#include "conduits/ucx/ucx_conduit.hpp"

#include <algorithm>
#include <cstring>

// UCX reaches the memory of a neighbour directly only where UCX gave that memory (decision 29). So it gives the segments of
// a job of one host, and then nobody needs UCX to write there.

namespace aqueduct::conduits::ucx {

Result<core::MutableBytes> UcxConduit::allocate(std::uint32_t, std::size_t bytes) {
  const Entry entry(*this);
  if (bytes == 0) return core::MutableBytes{};
  allocated_.reserve(allocated_.size() + 1);
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
  allocated_.emplace_back(memory, handle);
  return memory;
}

void UcxConduit::release(core::MutableBytes memory) noexcept {
  const Entry entry(*this);
  const auto given =
      std::ranges::find(allocated_, memory.data(), [](const auto& one) { return one.first.data(); });
  if (memory.empty() || given == allocated_.end()) return;
  ucp_.mem_unmap(context_.handle(), given->second);
  allocated_.erase(given);
}

std::vector<std::byte> UcxConduit::export_map(SegmentId id, core::MutableBytes memory, bool allocated) {
  const Entry entry(*this);
  const auto given =
      std::ranges::find(allocated_, memory.data(), [](const auto& one) { return one.first.data(); });
  if (!allocated || memory.empty() || given == allocated_.end()) return {};
  auto key = packed(id, memory, given->second);
  return key ? *std::move(key) : std::vector<std::byte>{};
}

Result<std::byte*> UcxConduit::map(Rank rank, core::Bytes key, std::size_t) {
  const Entry entry(*this);
  KeyHead head;
  if (rank >= peers_.size() || key.size() <= sizeof head) return {ErrorCode::not_supported, rank};
  std::memcpy(&head, key.data(), sizeof head);
  if (rank == me_) return reinterpret_cast<std::byte*>(head.address);
  const core::Post way = reach(peers_[rank]);
  if (way.kind == core::Post::Kind::retry) return {ErrorCode::no_memory, rank};
  if (way.kind == core::Post::Kind::failed) return {way.why, rank};
  ucp_rkey_h rkey = nullptr;
  void* place = nullptr;
  ucs_status_t status = ucp_.ep_rkey_unpack(peers_[rank].ep, key.data() + sizeof head, &rkey);
  if (status == UCS_OK) status = ucp_.rkey_ptr(rkey, head.address, &place);
  if (status != UCS_OK) {
    log_.warn(
        "ucx: rank {}: segment {} of rank {} cannot be mapped: {}. Messages carry its puts and gets, which "
        "is slower; "
        "the limits of System V shared memory (ipcs -lm) may be reached",
        me_, head.segment, rank, ucp_.status_string(status));
    if (rkey != nullptr) ucp_.rkey_destroy(rkey);
    return {ErrorCode::not_supported, rank};
  }
  keys_.add({head.address, rkey, static_cast<SegmentId>(head.segment), false});  // the mapping lives with it
  return static_cast<std::byte*>(place);
}

void UcxConduit::unmap(Rank, std::byte* at) noexcept {
  const Entry entry(*this);
  const auto leads_there = [&](const Key& key) {
    void* place = nullptr;
    return key.rkey != nullptr && ucp_.rkey_ptr(key.rkey, key.address, &place) == UCS_OK && place == at;
  };
  const auto found = std::ranges::find_if(keys_.all(), leads_there);
  if (found == keys_.all().end()) return;  // my own memory
  ucp_.rkey_destroy(keys_.remove(static_cast<std::uint64_t>(found - keys_.all().begin())).rkey);
}

}  // namespace aqueduct::conduits::ucx
