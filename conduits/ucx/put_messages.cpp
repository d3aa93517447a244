#include "conduits/ucx/put_messages.hpp"

#include <aqueduct/copy_bytes.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace aqueduct::conduits::ucx {

/// A short put is copied behind its head and leaves as one contiguous message, which costs UCX no request. For a longer one the
/// operation holds the head and the list of pieces, which UCX reads until it calls back.
core::Post PutMessages::put(Peer& peer, Operation& operation, std::span<const core::Bytes> from,
                            std::size_t bytes, PutHead head) noexcept {
  if (bytes <= kMostInject) return put_short(peer, operation, from, bytes, head, kShortPut);
  keep_head(operation, head);
  ucp_request_param_t param = param_for(operation, Operations::on_put_sent);
  if (from.size() == 1) {
    return posted(
        peer, operation,
        ucp_.am_send_nbx(peer.ep, kPut, operation.head, sizeof head, from.front().data(), bytes, &param));
  }
  auto* const pieces = reinterpret_cast<ucp_dt_iov_t*>(operation.inject());
  for (std::size_t i = 0; i < from.size(); ++i)
    pieces[i] = {const_cast<std::byte*>(from[i].data()), from[i].size()};
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
  param.datatype = ucp_dt_make_iov();
  return posted(peer, operation,
                ucp_.am_send_nbx(peer.ep, kPut, operation.head, sizeof head, pieces, from.size(), &param));
}

core::Post PutMessages::put_unwaited(Peer& peer, Operation& operation, core::Bytes from,
                                     PutHead head) noexcept {
  return put_short(peer, operation, {&from, 1}, from.size(), head, kLatePut);
}

core::Post PutMessages::put_short(Peer& peer, Operation& operation, std::span<const core::Bytes> from,
                                  std::size_t bytes, PutHead head, MessageId id) noexcept {
  keep_head(operation, head);
  std::byte* at = operation.inject();
  for (const core::Bytes piece : from) {
    if (piece.empty()) continue;
    std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
  }
  ucp_request_param_t param = param_for(operation, Operations::on_put_sent);
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  return posted(peer, operation,
                ucp_.am_send_nbx(peer.ep, id, nullptr, 0, operation.head, sizeof head + bytes, &param));
}

core::Post PutMessages::posted(Peer& peer, Operation& operation, ucs_status_ptr_t answer) noexcept {
  if (UCS_PTR_IS_ERR(answer)) [[unlikely]]
    return operations_.refused(peer, operation, UCS_PTR_RAW_STATUS(answer));
  ++counts_.put_messages;
  operation.awaited = answer == nullptr ? Operation::kAnswer : Operation::kAnswer | Operation::kSend;
  return core::Post::posted();
}

void PutMessages::keep_head(Operation& operation, PutHead head) const noexcept {
  head.head = filter_.own_head();
  head.index = operation.index;
  head.generation = operation.generation;
  std::memcpy(operation.head, &head, sizeof head);
}

ucs_status_t PutMessages::on_put(void* arg, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param) {
  auto& self = *static_cast<PutMessages*>(arg);
  PutHead head;
  if (header_bytes != sizeof head) {
    self.filter_.reject("a message of another form than a put's");
    return UCS_OK;
  }
  std::memcpy(&head, header, sizeof head);
  if (!self.filter_.is_ours(head.head)) return UCS_OK;
  const auto place = self.place_of(head, bytes);
  if (!place) return UCS_OK;
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    detail::copy_bytes(*place, data, bytes);
    self.in_place(head, Answer::next);
    return UCS_OK;
  }
  RendezvousPut* const put = self.rendezvous_.acquire();
  if (put == nullptr) {
    self.answer(head, ErrorCode::no_memory);
    return UCS_OK;
  }
  *put = {nullptr, &self, head};
  ucp_request_param_t receive;
  receive.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  receive.cb.recv_am = on_received;
  receive.user_data = put;
  const ucs_status_ptr_t request =
      self.ucp_.am_recv_data_nbx(self.worker_.handle(), data, *place, bytes, &receive);
  if (UCS_PTR_IS_ERR(request)) {
    self.rendezvous_.release(*put);
    self.answer(head, ErrorCode::network_failed);
    return UCS_PTR_RAW_STATUS(request);
  }
  return UCS_INPROGRESS;
}

ucs_status_t PutMessages::on_short_put(void* arg, const void*, std::size_t header_bytes, void* data,
                                       std::size_t bytes, const ucp_am_recv_param_t* param) {
  return static_cast<PutMessages*>(arg)->take_short(header_bytes, data, bytes, *param, Answer::next);
}

ucs_status_t PutMessages::on_late_put(void* arg, const void*, std::size_t header_bytes, void* data,
                                      std::size_t bytes, const ucp_am_recv_param_t* param) {
  return static_cast<PutMessages*>(arg)->take_short(header_bytes, data, bytes, *param, Answer::late);
}

ucs_status_t PutMessages::take_short(std::size_t header_bytes, const void* data, std::size_t bytes,
                                     const ucp_am_recv_param_t& param, Answer answer) noexcept {
  PutHead head;
  if (header_bytes != 0 || bytes < sizeof head || (param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    filter_.reject("a message of another form than a put's");
    return UCS_OK;
  }
  std::memcpy(&head, data, sizeof head);
  if (!filter_.is_ours(head.head)) return UCS_OK;
  bytes -= sizeof head;
  const auto place = place_of(head, bytes);
  if (!place) return UCS_OK;
  detail::copy_bytes(*place, static_cast<const std::byte*>(data) + sizeof head, bytes);
  in_place(head, answer);
  return UCS_OK;
}

/// Where a put's bytes belong. Nothing: outside the segment, and the put has been answered with that error.
std::optional<std::byte*> PutMessages::place_of(const PutHead& head, std::size_t bytes) noexcept {
  const core::MutableBytes memory = segments_.of(head.segment);
  if (head.offset <= memory.size() && bytes <= memory.size() - head.offset)
    return memory.data() + head.offset;
  answer(head, ErrorCode::out_of_range);
  return std::nullopt;
}

void PutMessages::on_received(void* request, ucs_status_t status, std::size_t, void* user_data) {
  auto& put = *static_cast<RendezvousPut*>(user_data);
  PutMessages& self = *put.owner;
  const PutHead head = put.head;
  self.ucp_.request_free(request);
  self.rendezvous_.release(put);
  if (status == UCS_OK) return self.in_place(head, Answer::next);
  self.answer(head, ErrorCode::network_failed);
}

/// The bytes of a put by message are in this rank's memory.
void PutMessages::in_place(const PutHead& head, Answer when) noexcept {
  answer(head, ErrorCode::ok, when);
  if (head.add == 0) return;
  const Signal signal{head.slot, head.add};
  if (!delivery_.signal(head.head.from, signal)) peers_.fail(peers_[head.head.from], UCS_ERR_NO_MEMORY);
}

/// Answers are collected during one round of progress, so that a window of puts gets one message.
void PutMessages::answer(const PutHead& head, ErrorCode code, Answer when) noexcept {
  Peer& peer = peers_[head.head.from];
  try {
    peer.answers.push_back({head.index, head.generation, static_cast<std::uint64_t>(code)});
  } catch (const std::bad_alloc&) {
    return peers_.fail(peer, UCS_ERR_NO_MEMORY);
  }
  if (when == Answer::late && peer.answers.size() < kMostLate) {
    if (std::exchange(peer.is_answering_late, true)) return;
    if (answering_late_.empty()) late_polls_ = 0;
    answering_late_.push_back(peer.rank);
  } else if (!std::exchange(peer.is_answering, true)) {
    answering_.push_back(peer.rank);
  }
}

void PutMessages::hurry() noexcept {
  for (const Rank rank : answering_late_) {
    Peer& peer = peers_[rank];
    peer.is_answering_late = false;
    if (!peer.answers.empty() && !std::exchange(peer.is_answering, true)) answering_.push_back(rank);
  }
  answering_late_.clear();
}

void PutMessages::send_answers() noexcept {
  std::erase_if(answering_, [&](Rank rank) {
    Peer& peer = peers_[rank];
    while (!peer.answers.empty()) {
      const std::size_t most = messages_.max_packet() / sizeof(PutDone);
      const auto some = std::as_bytes(std::span(peer.answers).first(std::min(most, peer.answers.size())));
      const core::Post post = messages_.send(peer, kPutDone, some, {});
      if (post.kind == core::Post::Kind::retry) return false;
      if (post.kind == core::Post::Kind::failed)
        peer.answers.clear();
      else
        peer.answers.erase(peer.answers.begin(),
                           peer.answers.begin() + static_cast<std::ptrdiff_t>(some.size() / sizeof(PutDone)));
    }
    peer.is_answering = false;
    return true;
  });
}

ucs_status_t PutMessages::on_put_done(void* arg, const void*, std::size_t, void* data, std::size_t bytes,
                                      const ucp_am_recv_param_t* param) {
  auto& self = *static_cast<PutMessages*>(arg);
  PacketHead head;
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 || bytes < sizeof head) {
    self.filter_.reject("a message of another form than a put's answer");
    return UCS_OK;
  }
  std::memcpy(&head, data, sizeof head);
  if (!self.filter_.is_ours(head)) return UCS_OK;
  const auto* at = static_cast<const std::byte*>(data) + sizeof head;
  for (std::size_t left = bytes - sizeof head; left >= sizeof(PutDone); left -= sizeof(PutDone)) {
    PutDone done;
    std::memcpy(&done, at, sizeof done);
    at += sizeof done;
    Operation* const operation = self.operations_.find(done.index, done.generation);
    if (operation == nullptr || operation->peer != head.from ||
        (operation->awaited & Operation::kAnswer) == 0) {
      ++self.counts_.rejected;  // its operation was given up, for instance
      continue;
    }
    operation->awaited &= static_cast<std::uint8_t>(~Operation::kAnswer);
    const auto code = static_cast<ErrorCode>(done.code);
    operation->outcome = code == ErrorCode::ok ? Status{} : Status{code, head.from};
    if (operation->awaited == 0) self.operations_.end(*operation, operation->outcome);
  }
  return UCS_OK;
}

}  // namespace aqueduct::conduits::ucx
