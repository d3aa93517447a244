#include "coll/shared/process_copies.hpp"

#include "core/endpoint_state.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace aqueduct::coll {

ProcessCopies::ProcessCopies(aqueduct::detail::EndpointState& state, std::vector<Rank> ranks, Rank me)
    : state_(state), ranks_(std::move(ranks)), members_(ranks_.size()), me_(me) {}

ProcessCopies::~ProcessCopies() {
  for (Rank i = 0; i < members_.size(); ++i) {
    if (members_[i].rma != nullptr) members_[i].rma->forget_key(ranks_[i], members_[i].key);
  }
}

/// Puts this process's key on the board.
void ProcessCopies::show(BoardHead& mine) noexcept try {
  const Rank other = ranks_[me_ == 0 ? 1 : 0];
  core::CrossMap* const map = state_.conduit(other).cross_map();
  const std::vector<std::byte> key = map != nullptr ? map->export_process() : std::vector<std::byte>();
  if (key.empty() || key.size() > mine.key.size()) {
    over_ = true;
    return;
  }
  std::ranges::copy(key, mine.key.begin());
  mine.key_bytes = key.size();
  mine.copies.store(kShown, std::memory_order_release);
  shown_ = true;
} catch (const std::bad_alloc&) {
  over_ = true;
}

void ProcessCopies::reach(Rank member, const BoardHead& its) noexcept try {
  core::NativeRma* const rma = state_.conduit(ranks_[member]).rma();
  const std::size_t bytes = std::min<std::size_t>(its.key_bytes, its.key.size());
  const auto key = rma != nullptr ? rma->import_key(ranks_[member], std::span(its.key).first(bytes))
                                  : Result<std::uint64_t>(ErrorCode::not_supported);
  if (!key) {
    over_ = true;
    return;
  }
  members_[member] = {rma, *key};
} catch (const std::bad_alloc&) {
  over_ = true;
}

bool ProcessCopies::can_read(const std::byte* memory, std::uint64_t bytes) noexcept {
  if (!ready_) return false;
  for (const Tried& one : latest_) {
    if (one.memory == memory && bytes <= one.bytes) return true;
  }
  std::byte byte{};
  if (!read(me_, &byte, memory, 1) || !read(me_, &byte, memory + bytes - 1, 1)) return false;
  latest_[next_++ % latest_.size()] = {memory, bytes};
  return true;
}

bool ProcessCopies::read(Rank member, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  const Member& one = members_[member];
  const std::uint64_t most = state_.conduit(ranks_[member]).properties().max_transfer;
  for (std::uint64_t at = 0; at < bytes;) {
    const std::uint64_t now = std::min(bytes - at, most);
    // It is done at once, or fails.
    const core::Post post =
        one.rma->get(ranks_[member], one.key, reinterpret_cast<std::uintptr_t>(from) + at, {to + at, now}, 0);
    if (post.kind != core::Post::Kind::done) return false;
    at += now;
  }
  return true;
}

}  // namespace aqueduct::coll
