#include "am/prepared.hpp"

#include "am/messages.hpp"
#include "core/entry.hpp"

namespace aqueduct {

namespace am {

PreparedPool::PreparedPool(std::size_t count, std::size_t bytes)
    : bytes_(bytes), all_(count), buffers_(count) {
  free_.reserve(count);
  for (auto& prepared : all_) free_.push_back(&prepared);
}

detail::Prepared* PreparedPool::take() noexcept {
  if (free_.empty()) return nullptr;
  detail::Prepared* prepared = free_.back();
  free_.pop_back();
  return prepared;
}

void PreparedPool::lend_buffer(detail::Prepared& prepared, std::size_t bytes) {
  auto& buffer = buffers_[static_cast<std::size_t>(&prepared - all_.data())];
  if (buffer.size() < bytes_) buffer.resize(bytes_);
  prepared.owner = &buffer;
  prepared.buffer = {buffer.data(), bytes};
}

void PreparedPool::give_back(detail::Prepared& prepared) noexcept {
  prepared = {};
  free_.push_back(&prepared);
}

}  // namespace am

namespace detail {

Result<Prepared*> prepare(Endpoint& ep, Rank to, std::size_t bytes, GlobalPtr<std::byte> place, bool is_long,
                          const AmOptions& options) noexcept {
  core::Entry entry(ep.state());
  EndpointState& state = ep.state();
  if (to >= ep.ranks()) return state.refusal();
  if (state.lost[to]) return {ErrorCode::peer_lost, to};
  std::byte* there = nullptr;
  if (is_long) {
    if (auto part = state.segments.check(place, bytes); !part) return part.status();
    there = ep.local(place, bytes);
  }
  am::PreparedPool& pool = state.messages->prepared();
  const std::size_t most = std::min(pool.buffer_bytes(), state.messages->room(to, is_long, am::kMaxArgs));
  if (there == nullptr && bytes > most) return {ErrorCode::too_large, to};
  Prepared* prepared = pool.take();
  if (prepared == nullptr) return {ErrorCode::refused, to};
  prepared->to = to;
  prepared->place = place;
  prepared->immediate = options.immediate;
  if (there != nullptr) {
    prepared->buffer = {there, bytes};
  } else {
    pool.lend_buffer(*prepared, bytes);
  }
  return prepared;
}

MutableBytes buffer_of(Prepared& prepared) noexcept { return prepared.buffer; }

Status commit(Endpoint& ep, Prepared& prepared, AmCategory category, HandlerId handler, Args args,
              std::size_t used) noexcept {
  core::Entry entry(ep.state());
  if (used > prepared.buffer.size()) return ErrorCode::too_large;
  return send_request(ep, prepared.to, category, handler, args, prepared.buffer.first(used), prepared.place,
                      {prepared.immediate, nullptr});
}

void PreparedRelease::operator()(Prepared* prepared) const noexcept {
  core::Entry entry(ep->state());
  ep->state().messages->prepared().give_back(*prepared);
}

}  // namespace detail

Result<PreparedPayload> prepare_medium(Endpoint& ep, Rank to, std::size_t bytes,
                                       const AmOptions& options) noexcept {
  auto prepared = detail::prepare(ep, to, bytes, {}, false, options);
  if (!prepared) return prepared.status();
  return PreparedPayload(ep, *prepared, false);
}

Result<PreparedPayload> prepare_long(Endpoint& ep, GlobalPtr<std::byte> to, std::size_t bytes,
                                     const AmOptions& options) noexcept {
  auto prepared = detail::prepare(ep, to.rank(), bytes, to, true, options);
  if (!prepared) return prepared.status();
  return PreparedPayload(ep, *prepared, true);
}

}  // namespace aqueduct
