#include "conduits/ibv/local_buffers.hpp"

#include "conduits/ibv/errors.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: how many bounce buffers have the length of a message.
constexpr std::uint32_t kSmallBuffers = 128;
// Measured: copying 16 KiB costs about as much as registering them (55 and 65 us) in a virtual machine without an
// adapter; with an adapter, registering takes 10 us and more, and copying 2 us.
constexpr std::size_t kLargeBufferBytes = 16 << 10;
constexpr std::uint32_t kLargeBuffers = 32;

}  // namespace

int LocalBuffers::open() {
  errno = 0;
  const BounceBuffers::Kind small{std::min(kSmallBuffers, env_.sizes().queue),
                                  sizeof(PacketHead) + env_.options.packet};
  const BounceBuffers::Kind large{std::min(kLargeBuffers, env_.sizes().queue), kLargeBufferBytes};
  if (bounce_buffers_.open(env_.verbs, *env_.objects.domain, small, large, env_.local_access())) return 0;
  return errno != 0 ? errno : ENOMEM;
}

Lent LocalBuffers::lend(OutstandingRequest& entry, core::Bytes buffer, bool copies, Work& work) noexcept {
  work.set_piece(buffer.data(), static_cast<std::uint32_t>(buffer.size()), 0);
  const auto key = memory_.key_in_segment(buffer);
  if (key && (!copies || env_.sizes().is_intact(buffer))) {
    work.piece.lkey = *key;
    return {Lent::Kind::done};
  }
  if (buffer.size() <= bounce_buffers_.most_bytes())
    entry.bounce_buffer = bounce_buffers_.take(buffer.size());
  if (entry.bounce_buffer == nullptr && buffer.size() <= bounce_buffers_.bytes())
    return {Lent::Kind::no_room};
  if (entry.bounce_buffer != nullptr) {
    if (copies) std::memcpy(entry.bounce_buffer, buffer.data(), buffer.size());
    work.piece.addr = reinterpret_cast<std::uint64_t>(entry.bounce_buffer);
    work.piece.lkey = bounce_buffers_.key();
    return {Lent::Kind::done};
  }
  int error = 0;
  const auto add = [this](core::MutableBytes memory, core::LocalUse use, int& why) noexcept {
    return memory_.add_local(memory, use, why);
  };
  entry.borrowed = cache_.borrow(buffer, copies ? core::LocalUse::read : core::LocalUse::write, error, add);
  if (entry.borrowed != nullptr) {
    work.piece.lkey = entry.borrowed->region()->lkey;
    return {Lent::Kind::done};
  }
  if (error == -EAGAIN) return {Lent::Kind::in_use};
  if (error == -ENOMEM) return {Lent::Kind::too_much};
  env_.log.error("ibv: rank {}: the device does not register a local buffer of {} bytes: {}. {}", env_.me,
                 buffer.size(), std::strerror(-error), advice_for_errno(-error));
  return {Lent::Kind::failed, code_of_errno(-error)};
}

}  // namespace aqueduct::conduits::ibv
