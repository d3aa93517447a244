// librdmacm over the mock network: connections of iWARP devices.

#include "conduits/ibv/tests/mock_device.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

namespace aqueduct::conduits::ibv::mock {
namespace {

struct CallId;

struct CallEvent : rdma_cm_event {
  std::array<std::byte, 256> data{};
};

struct CallChannel : rdma_event_channel {
  int news_end = -1;
  std::deque<CallEvent> events;
};

struct CallId : rdma_cm_id {
  CallId* other = nullptr;  ///< of the other side: requested, or connected
  std::uint16_t listens_at = 0;
  std::uint16_t asks_at = 0;
  std::uint32_t pair = 0;
  bool connected = false;
};

Network* calls_of = nullptr;  // a global, because these are plain functions, as verbs are
std::vector<CallId*> call_ids;
std::uint16_t next_port = 1000;

CallId& id_of(rdma_cm_id* id) { return *static_cast<CallId*>(id); }

void push(CallId& id, rdma_cm_event_type what, int status = 0, const rdma_conn_param* with = nullptr,
          rdma_cm_id* listener = nullptr) {
  auto& channel = *static_cast<CallChannel*>(listener != nullptr ? listener->channel : id.channel);
  CallEvent event{};
  event.id = &id;
  event.listen_id = listener;
  event.event = what;
  event.status = status;
  if (with != nullptr) {
    event.param.conn = *with;
    std::memcpy(event.data.data(), with->private_data, with->private_data_len);
  }
  channel.events.push_back(event);
  const char news = 1;
  static_cast<void>(::write(channel.news_end, &news, 1) == 1);
}

}  // namespace

struct ConnectionMock {
  using Lock = std::lock_guard<std::recursive_mutex>;

  static std::recursive_mutex& mutex() { return calls_of->mutex_; }

  static rdma_event_channel* create_event_channel() {
    int ends[2];
    if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return nullptr;
    auto* const channel = new CallChannel{};
    channel->fd = ends[0];
    channel->news_end = ends[1];
    return channel;
  }
  static void destroy_event_channel(rdma_event_channel* plain) {
    auto* const channel = static_cast<CallChannel*>(plain);
    ::close(channel->fd);
    ::close(channel->news_end);
    delete channel;
  }
  static int create_id(rdma_event_channel* channel, rdma_cm_id** id, void*, rdma_port_space) {
    const Lock lock(mutex());
    auto* const made = new CallId{};
    made->channel = channel;
    call_ids.push_back(made);
    *id = made;
    return 0;
  }
  static void fail_pair(std::uint32_t number) {
    if (Pair* const pair = calls_of->find(number); pair != nullptr) pair->state = IBV_QPS_ERR;
  }
  /// One end of a connection, or of an attempt, is destroyed.
  static void leave(CallId& id) {
    CallId* const other = std::exchange(id.other, nullptr);
    if (other == nullptr) return;
    other->other = nullptr;
    if (id.connected) push(*other, RDMA_CM_EVENT_DISCONNECTED);
    fail_pair(id.pair);
    if (id.connected) fail_pair(other->pair);
  }
  static int destroy_id(rdma_cm_id* plain) {
    const Lock lock(mutex());
    CallId& id = id_of(plain);
    leave(id);
    std::deque<CallEvent> left;
    for (const CallEvent& event : static_cast<CallChannel*>(id.channel)->events) {
      if (event.listen_id == &id) {  // nobody will answer
        CallId* const request = &id_of(event.id);
        leave(*request);
        std::erase(call_ids, request);
        delete request;
      } else if (event.id != &id) {
        left.push_back(event);
      }
    }
    static_cast<CallChannel*>(id.channel)->events.swap(left);
    std::erase(call_ids, &id);
    delete &id;
    return 0;
  }
  static int bind_addr(rdma_cm_id* id, sockaddr*) {
    const Lock lock(mutex());
    for (Network::Context* const context : calls_of->contexts_) {
      if (calls_of->devices[context->device_index].iwarp()) id->verbs = context;
    }
    return 0;
  }
  static int listen(rdma_cm_id* id, int) {
    const Lock lock(mutex());
    id_of(id).listens_at = next_port++;
    return 0;
  }
  static std::uint16_t get_src_port(rdma_cm_id* id) { return htons(id_of(id).listens_at); }
  static int resolve_addr(rdma_cm_id* id, sockaddr*, sockaddr* to, int) {
    const Lock lock(mutex());
    sockaddr_in four;  // the port is at the same offset in both address types
    std::memcpy(&four, to, sizeof four);
    id_of(id).asks_at = ntohs(four.sin_port);
    push(id_of(id), RDMA_CM_EVENT_ADDR_RESOLVED);
    return 0;
  }
  static int resolve_route(rdma_cm_id* id, int) {
    const Lock lock(mutex());
    push(id_of(id), RDMA_CM_EVENT_ROUTE_RESOLVED);
    return 0;
  }
  static int connect(rdma_cm_id* plain, rdma_conn_param* how) {
    const Lock lock(mutex());
    CallId& id = id_of(plain);
    ++calls_of->counts.calls;
    id.pair = how->qp_num;
    const auto found = std::ranges::find(call_ids, id.asks_at, &CallId::listens_at);
    CallId* const listener = found != call_ids.end() ? *found : nullptr;
    if (listener == nullptr || calls_of->faults.refused_calls > 0) {
      calls_of->faults.refused_calls = std::max(calls_of->faults.refused_calls - 1, 0);
      fail_pair(id.pair);
      push(id, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED);
      return 0;
    }
    auto* const request = new CallId{};
    request->channel = listener->channel;
    call_ids.push_back(request);
    push(*request, RDMA_CM_EVENT_CONNECT_REQUEST, 0, how, listener);
    if (calls_of->faults.timed_out_calls > 0) {
      --calls_of->faults.timed_out_calls;
      fail_pair(id.pair);
      push(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
      return 0;
    }
    request->other = &id;
    id.other = request;
    return 0;
  }
  static int accept(rdma_cm_id* plain, rdma_conn_param* how) {
    const Lock lock(mutex());
    CallId& id = id_of(plain);
    id.pair = how->qp_num;
    if (id.other == nullptr) {  // the requesting side is gone
      fail_pair(id.pair);
      errno = ENOTCONN;
      return -1;
    }
    Pair* const mine = calls_of->find(id.pair);
    Pair* const its = calls_of->find(id.other->pair);
    mine->peer = its->qp_num;
    its->peer = mine->qp_num;
    for (Pair* const each : {mine, its}) {
      if (each->state != IBV_QPS_INIT)
        ++calls_of->counts.breaches;  // a queue pair must not be used again after an attempt
      each->state = IBV_QPS_RTS;
      each->reads = how->initiator_depth;
    }
    mine->waits = true;
    mine->overlooks = calls_of->faults.overlooked;
    id.connected = id.other->connected = true;
    push(*id.other, RDMA_CM_EVENT_ESTABLISHED, 0, how);
    push(id, RDMA_CM_EVENT_ESTABLISHED);
    return 0;
  }
  static int reject(rdma_cm_id* plain, const void*, std::uint8_t) {
    const Lock lock(mutex());
    CallId& id = id_of(plain);
    if (id.other == nullptr) return 0;
    fail_pair(id.other->pair);
    push(*id.other, RDMA_CM_EVENT_REJECTED, -ECONNRESET);
    id.other->other = nullptr;
    id.other = nullptr;
    return 0;
  }
  static int get_cm_event(rdma_event_channel* plain, rdma_cm_event** event) {
    const Lock lock(mutex());
    auto& channel = *static_cast<CallChannel*>(plain);
    char news = 0;
    static_cast<void>(::read(channel.fd, &news, 1));
    if (channel.events.empty()) {
      errno = EAGAIN;
      return -1;
    }
    auto* const found = new CallEvent(channel.events.front());
    if (found->param.conn.private_data_len != 0) found->param.conn.private_data = found->data.data();
    channel.events.pop_front();
    *event = found;
    return 0;
  }
  static int ack_cm_event(rdma_cm_event* event) {
    delete static_cast<CallEvent*>(event);
    return 0;
  }

  static void use(Network& network) { calls_of = &network; }
};

ConnectionCalls connection_calls() {
  return {.create_event_channel = ConnectionMock::create_event_channel,
          .destroy_event_channel = ConnectionMock::destroy_event_channel,
          .create_id = ConnectionMock::create_id,
          .destroy_id = ConnectionMock::destroy_id,
          .bind_addr = ConnectionMock::bind_addr,
          .listen = ConnectionMock::listen,
          .get_src_port = ConnectionMock::get_src_port,
          .resolve_addr = ConnectionMock::resolve_addr,
          .resolve_route = ConnectionMock::resolve_route,
          .connect = ConnectionMock::connect,
          .accept = ConnectionMock::accept,
          .reject = ConnectionMock::reject,
          .get_cm_event = ConnectionMock::get_cm_event,
          .ack_cm_event = ConnectionMock::ack_cm_event};
}

void use_for_calls(Network& network) { ConnectionMock::use(network); }

void hang_up(Network& network, std::uint32_t pair_number) {
  static_cast<void>(network);
  const auto found = std::ranges::find(call_ids, pair_number, &CallId::pair);
  if (pair_number != 0 && found != call_ids.end()) ConnectionMock::leave(**found);
}

}  // namespace aqueduct::conduits::ibv::mock
