#include "conduits/ibv/receive_buffers.hpp"

#include "conduits/ibv/connection.hpp"
#include "conduits/ibv/work_id.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: receives posted by one call.
constexpr std::size_t kAtOnce = 16;
// Chosen: credits granted without a buffer, in jobs so large that the shared queue is full. Such a peer's message may
// find no receive; its adapter then retries.
constexpr std::uint32_t kUnbacked = 2;

}  // namespace

std::int64_t ReceiveBuffers::add(Connection& connection, std::uint32_t wanted) {
  const std::uint32_t count = std::min(wanted, unused_);
  if (count == 0) return shared_ != nullptr ? std::int64_t{kUnbacked} : -ENOMEM;
  RegisteredPages pages(verbs_, domain_, count * bytes_, IBV_ACCESS_LOCAL_WRITE);
  if (!pages) return errno != 0 ? -errno : -ENOMEM;
  unused_ -= count;
  std::vector<Buffer*> added;
  for (std::uint32_t i = 0; i < count; ++i) {
    buffers_.push_back(
        {pages.data() + i * bytes_, pages.region().lkey, shared_ != nullptr ? nullptr : &connection});
    added.push_back(&buffers_.back());
  }
  pages_.push_back(std::move(pages));
  freed_.reserve(buffers_.size());
  for (std::size_t at = 0; at < added.size(); at += kAtOnce) {
    if (const int error = post(&added[at], std::min(kAtOnce, added.size() - at)).error; error != 0)
      return -error;
  }
  return count;
}

bool ReceiveBuffers::post_again(Connection& connection) noexcept {
  for (Buffer& buffer : buffers_) {
    Buffer* const one = &buffer;
    if (buffer.of == &connection && post(&one, 1).error != 0) return false;
  }
  return true;
}

ReceiveBuffers::Posted ReceiveBuffers::post(Buffer* const* buffers, std::size_t count) noexcept {
  std::array<ibv_recv_wr, kAtOnce> requests;
  std::array<ibv_sge, kAtOnce> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    const Buffer& buffer = *buffers[i];
    pieces[i] = {reinterpret_cast<std::uint64_t>(buffer.bytes), static_cast<std::uint32_t>(bytes_),
                 buffer.key};
    requests[i] = {};
    requests[i].wr_id = WorkId::of(WorkId::Kind::receive, id_of(buffer));
    requests[i].sg_list = &pieces[i];
    requests[i].num_sge = 1;
    requests[i].next = i + 1 < count ? &requests[i + 1] : nullptr;
  }
  ibv_recv_wr* bad = nullptr;
  ibv_qp* const pair = shared_ == nullptr ? buffers[0]->of->pair.get() : nullptr;
  if (shared_ == nullptr && pair == nullptr) return {count, 0};  // the peer is lost
  const int error = pair != nullptr ? ::ibv_post_recv(pair, requests.data(), &bad)
                                    : ::ibv_post_srq_recv(shared_, requests.data(), &bad);
  if (error == 0) return {count, 0};
  return {bad != nullptr ? static_cast<std::size_t>(bad - requests.data()) : 0, error};
}

bool ReceiveBuffers::repost() noexcept {
  while (!freed_.empty()) {
    // One call for consecutive buffers of the same queue.
    std::size_t count = 1;
    const std::size_t all = freed_.size();
    while (count < std::min(all, kAtOnce) && freed_[all - 1 - count]->of == freed_.back()->of) ++count;
    // A buffer that was posted twice would take two messages at a time.
    const Posted posted = post(&freed_[all - count], count);
    const auto first = freed_.end() - static_cast<std::ptrdiff_t>(count);
    freed_.erase(first, first + static_cast<std::ptrdiff_t>(posted.count));
    if (posted.error != 0) return false;
  }
  return true;
}

}  // namespace aqueduct::conduits::ibv
