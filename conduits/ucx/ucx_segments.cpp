#include "conduits/ucx/printed.hpp"
#include "conduits/ucx/puts_reach.hpp"
#include "conduits/ucx/ucx_conduit.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::ucx {

Result<std::vector<std::byte>> UcxConduit::register_segment(SegmentId id, core::MutableBytes memory) {
  const Entry entry(*this);
  if (id >= segments_.size()) segments_.resize(id + std::size_t{1});
  const auto given =
      std::ranges::find(allocated_, memory.data(), [](const auto& one) { return one.first.data(); });
  if (given != allocated_.end()) {
    auto key = packed(id, memory, given->second);
    if (key) segments_[id] = {memory, nullptr};  // the handle is not this one's to end
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
  auto key = packed(id, memory, handle);
  if (key) {
    segments_[id] = {memory, handle};
  } else {
    ucp_.mem_unmap(context_.handle(), handle);
  }
  return key;
}

/// What peers need to reach it.
Result<std::vector<std::byte>> UcxConduit::packed(SegmentId id, core::MutableBytes memory, ucp_mem_h handle) {
  void* form = nullptr;
  std::size_t bytes = 0;
  if (const ucs_status_t status = ucp_.rkey_pack(context_.handle(), handle, &form, &bytes);
      status != UCS_OK) {
    log_.warn("ucx: rank {}: segment {} has no key: {}. Messages carry its puts and gets, which is slower",
              me_, id, ucp_.status_string(status));
    return ErrorCode::not_supported;
  }
  const KeyHead head{reinterpret_cast<std::uint64_t>(memory.data()), id};
  std::vector<std::byte> key(sizeof head + bytes);
  std::memcpy(key.data(), &head, sizeof head);
  std::memcpy(key.data() + sizeof head, form, bytes);
  ucp_.rkey_buffer_release(form);
  return key;
}

void UcxConduit::unregister_segment(SegmentId id) noexcept {
  const Entry entry(*this);
  if (id >= segments_.size()) return;
  const ucp_mem_h handle = std::exchange(segments_[id], {}).second;
  if (handle != nullptr) ucp_.mem_unmap(context_.handle(), handle);
}

Result<std::uint64_t> UcxConduit::import_key(Rank rank, core::Bytes key) {
  const Entry entry(*this);
  KeyHead head;
  if (rank >= peers_.size() || key.size() <= sizeof head) return {ErrorCode::not_supported, rank};
  std::memcpy(&head, key.data(), sizeof head);
  ucp_rkey_h rkey = nullptr;
  bool by_network = false;
  if (rank != me_) {
    const core::Post way = reach(peers_[rank]);
    if (way.kind == core::Post::Kind::retry) return {ErrorCode::no_memory, rank};
    if (way.kind == core::Post::Kind::failed) return {way.why, rank};
    const ucs_status_t status = ucp_.ep_rkey_unpack(peers_[rank].ep, key.data() + sizeof head, &rkey);
    if (status != UCS_OK) {
      log_.warn(
          "ucx: rank {}: a segment of rank {} cannot be reached directly: {}. Messages carry its puts and "
          "gets",
          me_, rank, ucp_.status_string(status));
      return {ErrorCode::not_supported, rank};
    }
    by_network =
        put_by_ == "network" || (put_by_ == "auto" && has_rma(peers_[rank], key.subspan(sizeof head)));
  }
  return keys_.add({head.address, rkey, static_cast<SegmentId>(head.segment), by_network});
}

void UcxConduit::forget_key(Rank, std::uint64_t key) noexcept {
  const Entry entry(*this);
  if (const ucp_rkey_h rkey = keys_.remove(key).rkey; rkey != nullptr) ucp_.rkey_destroy(rkey);
}

/// Whether UCX has a lane for puts to that memory. Without one it makes messages of them, and does so worse than this conduit: it is
/// only said in what UCX prints of an endpoint.
bool UcxConduit::has_rma(const Peer& peer, core::Bytes packed) const {
  return puts_reach(printed_lines([&](std::FILE* out) { ucp_.ep_print_info(peer.ep, out); }), packed);
}

}  // namespace aqueduct::conduits::ucx
