#include "conduits/ibv/connection_manager.hpp"

#include <ifaddrs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: the answer comes from the host's own tables, or from a neighbour in the network.
constexpr int kResolveMilliseconds = 2000;

// The 16 bytes of an IPv6 address; IPv4 addresses are mapped.
struct SocketAddress {
  sockaddr_storage storage{};
  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
};

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::array<std::uint8_t, 16> host_of(const sockaddr& address) {
  std::array<std::uint8_t, 16> host{};
  if (address.sa_family == AF_INET) {
    sockaddr_in four;
    std::memcpy(&four, &address, sizeof four);
    std::ranges::copy(kMapped, host.begin());
    std::memcpy(host.data() + kMapped.size(), &four.sin_addr, sizeof four.sin_addr);
  } else {
    sockaddr_in6 six;
    std::memcpy(&six, &address, sizeof six);
    std::memcpy(host.data(), &six.sin6_addr, sizeof six.sin6_addr);
  }
  return host;
}

SocketAddress socket_address(const std::array<std::uint8_t, 16>& host, std::uint16_t port) {
  SocketAddress address;
  if (std::ranges::equal(std::span(host).first<12>(), kMapped)) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = ::htons(port);
    std::memcpy(&four.sin_addr, host.data() + kMapped.size(), sizeof four.sin_addr);
    std::memcpy(&address.storage, &four, sizeof four);
  } else {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = ::htons(port);
    std::memcpy(&six.sin6_addr, host.data(), sizeof six.sin6_addr);
    std::memcpy(&address.storage, &six, sizeof six);
  }
  return address;
}

struct AddressClass {
  int family;
  bool loopback;
};

// Link-local addresses are skipped: they need an interface number, which differs from host to host.
bool is_of(const ifaddrs& one, const AddressClass& wanted) {
  if (one.ifa_addr == nullptr || (one.ifa_flags & IFF_UP) == 0) return false;
  const bool loopback = (one.ifa_flags & IFF_LOOPBACK) != 0;
  if (one.ifa_addr->sa_family != wanted.family || loopback != wanted.loopback) return false;
  if (wanted.family == AF_INET) return true;
  sockaddr_in6 six;
  std::memcpy(&six, one.ifa_addr, sizeof six);
  return !IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr);
}

rdma_conn_param how(const Hello& hello, const Sizes& sizes) {
  static_assert(sizeof(Hello) <= 196, "what a request for a connection carries, less what the network adds");
  rdma_conn_param how{};
  how.private_data = &hello;
  how.private_data_len = sizeof hello;
  how.responder_resources = sizes.answers;
  how.initiator_depth = sizes.reads;
  how.qp_num = hello.pair;
  return how;
}

int error_of(int answer) noexcept { return answer == 0 ? 0 : errno != 0 ? errno : EIO; }

}  // namespace

ConnectionManager::~ConnectionManager() {
  listener_.reset();
  if (channel_ != nullptr) calls_->destroy_event_channel(channel_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

// librdmacm chooses the device by the interface that has the address.
bool ConnectionManager::listen_at(const sockaddr& address, const Port& port,
                                  const char* (*name_of)(ibv_device*), int backlog) {
  rdma_cm_id* made = nullptr;
  if (calls_->create_id(channel_, &made, nullptr, RDMA_PS_TCP) != 0) return false;
  CmId id = own(made);
  const auto host = host_of(address);
  SocketAddress here = socket_address(host, 0);
  if (calls_->bind_addr(made, here.get()) != 0 || made->verbs == nullptr) return false;
  if (port.device != name_of(made->verbs->device)) return false;
  if (calls_->listen(made, backlog) != 0) return false;
  listener_ = std::move(id);
  host_ = host;
  port_ = ::ntohs(calls_->get_src_port(made));
  return true;
}

int ConnectionManager::open(const Verbs& verbs, const Port& port, Rank ranks, int completions) {
  calls_ = &verbs.connections;
  errno = 0;
  channel_ = calls_->create_event_channel();
  if (channel_ == nullptr) return error_of(-1);
  const int flags = ::fcntl(channel_->fd, F_GETFL);
  if (flags < 0 || ::fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0) return errno;
  descriptor_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (descriptor_ < 0) return errno;
  for (const int each : {completions, channel_->fd}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(descriptor_, EPOLL_CTL_ADD, each, &event) != 0) return errno;
  }
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return errno;
  const auto backlog = static_cast<int>(std::clamp<Rank>(ranks, 16, 1024));
  for (const AddressClass& wanted :
       {AddressClass{AF_INET, false}, AddressClass{AF_INET6, false}, AddressClass{AF_INET, true}}) {
    for (const ifaddrs* one = all; one != nullptr && !is_open(); one = one->ifa_next) {
      if (!is_of(*one, wanted)) continue;
      static_cast<void>(listen_at(*one->ifa_addr, port, verbs.get_device_name, backlog));
    }
  }
  ::freeifaddrs(all);
  return is_open() ? 0 : EADDRNOTAVAIL;
}

void ConnectionManager::tell(Address& address) const noexcept {
  address.gid = host_;
  address.listener = port_;
}

std::optional<ConnectionManager::Event> ConnectionManager::next() noexcept {
  rdma_cm_event* event = nullptr;
  if (calls_->get_cm_event(channel_, &event) != 0) return std::nullopt;
  Event found{event->event, event->id, event->status, {}};
  const rdma_conn_param& with = event->param.conn;
  // Some networks pad private data with zeros.
  if (with.private_data != nullptr && with.private_data_len >= sizeof(Hello)) {
    Hello hello;
    std::memcpy(&hello, with.private_data, sizeof hello);
    found.hello = hello;
  }
  static_cast<void>(calls_->ack_cm_event(event));
  return found;
}

CmId ConnectionManager::start_request(const Address& peer) noexcept {
  errno = 0;
  rdma_cm_id* made = nullptr;
  if (calls_->create_id(channel_, &made, nullptr, RDMA_PS_TCP) != 0) return own(nullptr);
  CmId id = own(made);
  SocketAddress from = socket_address(host_, 0);
  SocketAddress to = socket_address(peer.gid, static_cast<std::uint16_t>(peer.listener));
  if (calls_->resolve_addr(made, from.get(), to.get(), kResolveMilliseconds) != 0) return own(nullptr);
  return id;
}

int ConnectionManager::resolve_route(rdma_cm_id& id) noexcept {
  errno = 0;
  return error_of(calls_->resolve_route(&id, kResolveMilliseconds));
}

int ConnectionManager::connect(rdma_cm_id& id, const Hello& hello, const Sizes& sizes) noexcept {
  errno = 0;
  rdma_conn_param with = how(hello, sizes);
  return error_of(calls_->connect(&id, &with));
}

int ConnectionManager::accept(rdma_cm_id& id, const Hello& hello, const Sizes& sizes) noexcept {
  errno = 0;
  rdma_conn_param with = how(hello, sizes);
  return error_of(calls_->accept(&id, &with));
}

}  // namespace aqueduct::conduits::ibv
