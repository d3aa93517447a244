#include "conduits/ibv/datagram_listener.hpp"

#include "conduits/ibv/objects.hpp"
#include "conduits/ibv/work_id.hpp"

#include <cerrno>
#include <cstring>

namespace aqueduct::conduits::ibv {
namespace {

// Specified: every received datagram starts with 40 bytes for a global routing header, used or not.
constexpr std::size_t kRoute = 40;
constexpr std::size_t kPlace = 128;
static_assert(kRoute + sizeof(Hello) <= kPlace);

int error_or(int other) noexcept { return errno != 0 ? errno : other; }

}  // namespace

std::byte* DatagramListener::receive_buffer(std::uint64_t index) const noexcept {
  return pages_.data() + index * kPlace;
}
std::byte* DatagramListener::send_buffer(std::uint64_t index) const noexcept {
  return receive_buffer(kDatagramReceives + index);
}

int DatagramListener::open(const Verbs& verbs, ibv_pd& domain, ibv_cq& queue, const Port& port,
                           std::uint64_t job) {
  job_ = job;
  key_ = 0x1000'0000u |
         static_cast<std::uint32_t>(job & 0x0fff'ffff);  // the device drops datagrams of other jobs
  pages_ =
      RegisteredPages(verbs, domain, (kDatagramReceives + kDatagramSends) * kPlace, IBV_ACCESS_LOCAL_WRITE);
  if (!pages_) return error_or(ENOMEM);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = &queue;
  wanted.recv_cq = &queue;
  wanted.qp_type = IBV_QPT_UD;
  wanted.cap = {kDatagramSends, kDatagramReceives, 1, 1, 0};
  wanted.sq_sig_all = 1;
  pair_ = {verbs.create_qp(&domain, &wanted), {verbs.destroy_qp}};
  if (pair_ == nullptr) return error_or(ENOMEM);
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_INIT;
  state.port_num = port.number;
  state.qkey = key_;
  int error =
      verbs.modify_qp(pair_.get(), &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  for (std::uint64_t i = 0; i < kDatagramReceives && error == 0; ++i) error = post(i);
  state.qp_state = IBV_QPS_RTR;
  if (error == 0) error = verbs.modify_qp(pair_.get(), &state, IBV_QP_STATE);
  state.qp_state = IBV_QPS_RTS;
  if (error == 0) error = verbs.modify_qp(pair_.get(), &state, IBV_QP_STATE | IBV_QP_SQ_PSN);
  for (std::uint32_t i = 0; i < kDatagramSends; ++i) free_.push_back(i);
  return error;
}

int DatagramListener::post(std::uint64_t index) noexcept {
  ibv_sge piece{reinterpret_cast<std::uint64_t>(receive_buffer(index)), kPlace, pages_.region().lkey};
  ibv_recv_wr request{};
  request.wr_id = WorkId::of(WorkId::Kind::datagram_receive, index);
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return ::ibv_post_recv(pair_.get(), &request, &bad);
}

bool DatagramListener::send(const Hello& hello, ibv_ah& way, std::uint32_t listener) noexcept {
  if (free_.empty()) return false;
  const std::uint32_t index = free_.back();
  std::memcpy(send_buffer(index), &hello, sizeof hello);
  ibv_sge piece{reinterpret_cast<std::uint64_t>(send_buffer(index)), sizeof hello, pages_.region().lkey};
  ibv_send_wr request{};
  request.wr_id = WorkId::of(WorkId::Kind::datagram_send, index);
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.ud = {&way, listener, key_};
  ibv_send_wr* bad = nullptr;
  if (::ibv_post_send(pair_.get(), &request, &bad) != 0) return false;
  free_.pop_back();
  return true;
}

std::optional<Hello> DatagramListener::receive(std::uint64_t index, const ibv_wc& completion) noexcept {
  std::optional<Hello> found;
  Hello hello;
  if (completion.status == IBV_WC_SUCCESS && completion.byte_len == kRoute + sizeof hello) {
    std::memcpy(&hello, receive_buffer(index) + kRoute, sizeof hello);
    if (hello.job == job_ && hello.wire_version == kWireVersion) found = hello;
  }
  // A buffer that cannot be posted again is one fewer. A datagram that then finds no room is retransmitted.
  if (completion.status != IBV_WC_WR_FLUSH_ERR) static_cast<void>(post(index));
  return found;
}

}  // namespace aqueduct::conduits::ibv
