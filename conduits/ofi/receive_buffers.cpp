#include "conduits/ofi/receive_buffers.hpp"

#include "conduits/ofi/errors.hpp"

#include <new>

#include <sys/uio.h>

namespace aqueduct::conduits::ofi {
namespace {

constexpr std::align_val_t kPage{4096};

}  // namespace

void ReceiveBuffers::FreePages::operator()(std::byte* memory) const noexcept {
  ::operator delete(memory, kPage);
}

ReceiveBuffers::ReceiveBuffers(std::size_t count, std::size_t bytes, std::size_t most)
    : bytes_(bytes),
      most_(most),
      memory_(static_cast<std::byte*>(::operator new(count* bytes, kPage))),
      buffers_(count) {
  for (std::size_t i = 0; i < count; ++i) buffers_[i].bytes = memory_.get() + i * bytes;
}

int ReceiveBuffers::prepare(fid_ep& ep) const noexcept {
  if (!shared()) return 0;
  return ::fi_setopt(&ep.fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &most_, sizeof most_);
}

int ReceiveBuffers::post_all(fid_ep& ep, void* descriptor) noexcept {
  ep_ = &ep;
  descriptor_ = descriptor;
  for (Buffer& buffer : buffers_) {
    if (const int error = post(buffer); error != 0) return error;
  }
  return 0;
}

int ReceiveBuffers::post(Buffer& buffer) noexcept {
  const iovec memory{buffer.bytes, bytes_};
  fi_msg message{};
  message.msg_iov = &memory;
  message.desc = &descriptor_;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &buffer.context;
  return static_cast<int>(::fi_recvmsg(ep_, &message, shared() ? FI_MULTI_RECV : 0));
}

int ReceiveBuffers::filled(void* context) noexcept {
  auto& buffer = *static_cast<Buffer*>(context);
  buffer.next = waiting_;
  waiting_ = &buffer;
  return repost();
}

int ReceiveBuffers::repost() noexcept {
  while (waiting_ != nullptr) {
    if (const int error = post(*waiting_); error != 0) return may_retry(error) ? 0 : error;
    waiting_ = waiting_->next;
  }
  return 0;
}

}  // namespace aqueduct::conduits::ofi
