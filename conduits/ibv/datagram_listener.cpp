#include "conduits/ibv/datagram_listener.hpp"

#include "conduits/ibv/objects.hpp"
#include "conduits/ibv/work_id.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace aqueduct::conduits::ibv {
namespace {

// Specified: every received datagram starts with 40 bytes for a global routing header, used or not.
constexpr std::size_t kRoute = 40;
constexpr std::size_t kPlace = 128;
/// Between two attempts to start again. Chosen: a peer's next request comes about as late.
constexpr std::chrono::milliseconds kPause{100};
static_assert(kRoute + sizeof(Hello) <= kPlace);

int error_or(int other) noexcept { return errno != 0 ? errno : other; }

}  // namespace

std::byte* DatagramListener::receive_buffer(std::uint64_t index) const noexcept {
  return pages_.data() + index * kPlace;
}
std::byte* DatagramListener::send_buffer(std::uint64_t index) const noexcept {
  return receive_buffer(kDatagramReceives + index);
}

int DatagramListener::open() {
  key_ = 0x1000'0000u |
         static_cast<std::uint32_t>(env_.job & 0x0fff'ffff);  // the device drops datagrams of other jobs
  pages_ = RegisteredPages(env_.verbs, *env_.objects.domain, (kDatagramReceives + kDatagramSends) * kPlace,
                           IBV_ACCESS_LOCAL_WRITE);
  if (!pages_) return error_or(ENOMEM);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = env_.objects.queue.get();
  wanted.qp_type = IBV_QPT_UD;
  wanted.cap = {kDatagramSends, kDatagramReceives, 1, 1, 0};
  wanted.sq_sig_all = 1;
  pair_ = {env_.verbs.create_qp(env_.objects.domain.get(), &wanted), {env_.verbs.destroy_qp}};
  if (pair_ == nullptr) return error_or(ENOMEM);
  for (std::uint32_t i = 0; i < kDatagramSends; ++i) free_.push_back(i);
  return start();
}

int DatagramListener::change(ibv_qp_state to, int mask) noexcept {
  ibv_qp_attr state{};
  state.qp_state = to;
  state.port_num = env_.port.number;
  state.qkey = key_;
  return env_.verbs.modify_qp(pair_.get(), &state, IBV_QP_STATE | mask);
}

// Requires: the queue pair is in the state RESET, and nothing is posted to it.
int DatagramListener::start() noexcept {
  int error = change(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  for (std::uint64_t i = 0; i < kDatagramReceives && error == 0; ++i) error = post(i);
  if (error == 0) error = change(IBV_QPS_RTR, 0);
  return error == 0 ? change(IBV_QPS_RTS, IBV_QP_SQ_PSN) : error;
}

// A receive or a send has ended. After an error of a send some devices keep the receives; in the state ERR all of them come back.
void DatagramListener::note_end(const ibv_wc& completion) noexcept {
  if (completion.status != IBV_WC_SUCCESS && !std::exchange(stopped_, true)) {
    env_.log.debug(
        "ibv: rank {}: {}: the queue pair for requests of connections has stopped ({}), and is started again",
        env_.me, env_.port.device, env_.verbs.wc_status_str(completion.status));
    // Where the device refuses even that, a reset takes all back.
    if (change(IBV_QPS_ERR, 0) != 0) forget_posted();
  }
  if (stopped_ && receives_ == 0 && free_.size() == kDatagramSends) static_cast<void>(start_again());
}

// What was posted is not there any more.
void DatagramListener::forget_posted() noexcept {
  receives_ = 0;
  free_.clear();
  for (std::uint32_t i = 0; i < kDatagramSends; ++i) free_.push_back(i);
}

// False: the device refuses. A `send` tries again, and `go_on` after a pause.
bool DatagramListener::start_again() noexcept {
  if (receives_ != 0 || free_.size() != kDatagramSends) return false;
  int error = change(IBV_QPS_RESET, 0);
  if (error == 0) error = start();
  stopped_ = error != 0;
  if (!stopped_) return true;
  static_cast<void>(change(IBV_QPS_RESET, 0));  // takes back what `start` has posted
  forget_posted();
  next_start_ = env_.clock.now() + kPause;
  if (!std::exchange(refused_, true)) {
    env_.log.error(
        "ibv: rank {}: {} does not start its queue pair for requests of connections again: {}. Peers that "
        "have no connection wait until it does; dmesg may say more",
        env_.me, env_.port.device, std::strerror(error));
  }
  return false;
}

int DatagramListener::post(std::uint64_t index) noexcept {
  ibv_sge piece{reinterpret_cast<std::uint64_t>(receive_buffer(index)), kPlace, pages_.region().lkey};
  ibv_recv_wr request{};
  request.wr_id = WorkId::of(WorkId::Kind::datagram_receive, index);
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  const int error = ::ibv_post_recv(pair_.get(), &request, &bad);
  if (error == 0) ++receives_;
  return error;
}

void DatagramListener::go_on() noexcept {
  if (env_.clock.now() >= next_start_) static_cast<void>(start_again());
}

bool DatagramListener::send(const Hello& hello, ibv_ah& way, std::uint32_t listener) noexcept {
  if (stopped_ && !start_again()) return false;
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
    if (hello.job == env_.job && hello.wire_version == kWireVersion) found = hello;
  }
  if (receives_ != 0) --receives_;  // it may have been taken back meanwhile
  // A buffer that cannot be posted again is one fewer. A datagram that then finds no room is retransmitted.
  if (completion.status == IBV_WC_SUCCESS && !stopped_) static_cast<void>(post(index));
  note_end(completion);
  return found;
}

void DatagramListener::sent(std::uint64_t index, const ibv_wc& completion) noexcept {
  if (free_.size() < kDatagramSends) free_.push_back(static_cast<std::uint32_t>(index));  // as above
  note_end(completion);
}

}  // namespace aqueduct::conduits::ibv
