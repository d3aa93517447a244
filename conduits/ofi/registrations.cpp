#include "conduits/ofi/registrations.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace aqueduct::conduits::ofi {
namespace {

/// Starts the bytes of a key. A raw key follows where the provider's keys do not fit a word.
struct KeyHead {
  std::uint64_t key = 0;
  std::uint64_t base = 0;
  SegmentId id = 0;
  std::uint32_t raw_bytes = 0;
};

constexpr std::uint64_t kSourceAccess = FI_SEND | FI_WRITE;
constexpr std::uint64_t kLocalAccess = kSourceAccess | FI_RECV | FI_READ;

// Chosen: as many keys in a row may be in use when keys begin again. Many segments that were registered one after another are.
constexpr int kMostKeysInRow = 1 << 16;

/// The highest key that the provider can send.
std::uint64_t most_key(const fi_domain_attr& domain) noexcept {
  const std::size_t bits = 8 * domain.mr_key_size;
  return bits == 0 || bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
}

}  // namespace

Registrations::Registrations(fid_domain& domain, fid_ep& ep, const Provider& provider, Rank me,
                             core::Log& log)
    : domain_(domain),
      ep_(ep),
      library_(provider.library),
      mode_(provider.info->domain_attr->mr_mode),
      most_key_(most_key(*provider.info->domain_attr)),
      me_(me),
      log_(log),
      local_needed_((mode_ & FI_MR_LOCAL) != 0) {}

Registrations::~Registrations() {
  for (const std::uint64_t key : mapped_keys_) static_cast<void>(::fi_mr_unmap_key(&domain_, key));
}

int Registrations::add(core::MutableBytes memory, std::uint64_t access, Fid<fid_mr>& region) noexcept {
  const bool chooses_key = (mode_ & FI_MR_PROV_KEY) == 0;
  int error = 0;
  // After the highest key they begin again. By then most are free, and the provider says which are not.
  for (int tries = 0; tries < kMostKeysInRow; ++tries) {
    const std::uint64_t key = chooses_key ? next_key() : 0;
    error = open_fid(region, [&](fid_mr** raw) {
      return ::fi_mr_reg(&domain_, memory.data(), memory.size(), access, 0, key, 0, raw, nullptr);
    });
    if (!chooses_key || error != -FI_ENOKEY) break;
  }
  if (error != 0 || (mode_ & FI_MR_ENDPOINT) == 0) return error;
  error = ::fi_mr_bind(region.get(), &ep_.fid, 0);
  return error != 0 ? error : ::fi_mr_enable(region.get());
}

std::uint64_t Registrations::next_key() noexcept {
  last_key_ = last_key_ == most_key_ ? 1 : last_key_ + 1;
  return last_key_;
}

std::uint64_t Registrations::base_of(core::MutableBytes memory) const noexcept {
  return (mode_ & FI_MR_VIRT_ADDR) != 0 ? reinterpret_cast<std::uint64_t>(memory.data()) : 0;
}

Result<std::vector<std::byte>> Registrations::add_segment(SegmentId id, core::MutableBytes memory) {
  if (memory.empty()) return ErrorCode::not_supported;  // nobody can put or get there
  if (id >= segments_.size()) segments_.resize(id + std::size_t{1});
  Segment& segment = segments_[id];
  const int error = add(memory, kLocalAccess | FI_REMOTE_READ | FI_REMOTE_WRITE, segment.region);
  if (error != 0) {
    segment = {};
    log_.error(
        "ofi: rank {}: the provider does not register segment {} of {} bytes: {}. Where it pins memory, "
        "`ulimit -l` "
        "must allow that much; or ask for less (AQUEDUCT_SEGMENT_BYTES)",
        me_, id, memory.size(), library_.text(error));
    return ErrorCode::no_memory;
  }
  segment.memory = memory;
  KeyHead head{::fi_mr_key(segment.region.get()), base_of(memory), id, 0};
  std::vector<std::byte> blob(sizeof head);
  if ((mode_ & FI_MR_RAW) != 0 && head.key == FI_KEY_NOTAVAIL) {
    std::size_t raw_bytes = 0;  // with 0 the call only tells the length
    static_cast<void>(::fi_mr_raw_attr(segment.region.get(), &head.base, nullptr, &raw_bytes, 0));
    blob.resize(sizeof head + raw_bytes);
    auto* raw = reinterpret_cast<std::uint8_t*>(blob.data() + sizeof head);
    if (const int why = ::fi_mr_raw_attr(segment.region.get(), &head.base, raw, &raw_bytes, 0); why != 0) {
      log_.error("ofi: rank {}: the provider does not tell the key of segment {}: {}", me_, id,
                 library_.text(why));
      segment = {};
      return ErrorCode::network_failed;
    }
    head.raw_bytes = static_cast<std::uint32_t>(raw_bytes);
  }
  std::memcpy(blob.data(), &head, sizeof head);
  by_address_.add(id, memory);
  return blob;
}

void Registrations::remove_segment(SegmentId id) noexcept {
  if (id >= segments_.size()) return;
  by_address_.remove(id, segments_[id].memory.data());
  segments_[id] = {};
}

Result<std::uint64_t> Registrations::import(Rank peer, core::Bytes key) {
  KeyHead head;
  if (key.size() < sizeof head) return {ErrorCode::not_supported, peer};
  std::memcpy(&head, key.data(), sizeof head);
  if (head.raw_bytes != key.size() - sizeof head) return {ErrorCode::not_supported, peer};
  if (head.raw_bytes != 0) {
    std::vector<std::byte> raw(key.begin() + sizeof head, key.end());
    mapped_keys_.reserve(mapped_keys_.size() + 1);
    const int error = ::fi_mr_map_raw(&domain_, head.base, reinterpret_cast<std::uint8_t*>(raw.data()),
                                      raw.size(), &head.key, 0);
    if (error != 0) {
      log_.error("ofi: rank {}: the provider does not take the key of rank {}'s segment: {}", me_, peer,
                 library_.text(error));
      return {ErrorCode::network_failed, peer};
    }
    mapped_keys_.push_back(head.key);
  }
  return remote_.add({head.key, (mode_ & FI_MR_VIRT_ADDR) != 0 ? head.base : 0, head.id});
}

void Registrations::forget(std::uint64_t handle) noexcept {
  const RemoteKey gone = remote_.remove(handle);
  const auto mapped = std::ranges::find(mapped_keys_, gone.key);
  if (mapped == mapped_keys_.end()) return;
  static_cast<void>(::fi_mr_unmap_key(&domain_, gone.key));
  mapped_keys_.erase(mapped);
}

Fid<fid_mr> Registrations::add_local(core::MutableBytes memory, core::LocalUse use, int& error) noexcept {
  Fid<fid_mr> region;
  error = add(memory, use == core::LocalUse::write ? kLocalAccess : kSourceAccess, region);
  if (error != 0) region.reset();
  return region;
}

void* Registrations::descriptor_in_segment(core::Bytes buffer) const noexcept {
  const auto id = by_address_.find(buffer);
  return id ? ::fi_mr_desc(segments_[*id].region.get()) : nullptr;
}

}  // namespace aqueduct::conduits::ofi
