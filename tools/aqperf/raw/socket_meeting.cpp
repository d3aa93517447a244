#include "tools/aqperf/raw/socket_meeting.hpp"

#include "conduits/udp/carrier/interface.hpp"
#include "core/log.hpp"
#include "tools/aqperf/measure/machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <sys/stat.h>

namespace aqueduct::perf {

namespace {

/// Identifies a network namespace of a machine: processes with equal values reach one another over loopback.
struct NetworkNamespace {
  KernelName kernel{};
  std::uint64_t network = 0;

  bool operator==(const NetworkNamespace&) const = default;
};

NetworkNamespace own_namespace() {
  NetworkNamespace out{running_kernel()};
  struct stat network {};
  if (::stat("/proc/self/ns/net", &network) == 0) out.network = network.st_ino;
  return out;
}

}  // namespace

SocketMeeting::SocketMeeting(Session& session, Role role) : session_(session), role_(role) {
  const auto namespaces = session.exchange(own_namespace());
  const bool one_namespace =
      std::all_of(namespaces.begin(), namespaces.end(),
                  [&](const NetworkNamespace& one) { return one == namespaces.front(); });
  conduits::udp::InterfaceWish wish;
  wish.one_host = one_namespace;
  if (const char* text = std::getenv("AQUEDUCT_UDP_INTERFACE"); text != nullptr) wish.text = text;
  const Config config = Config::from_environment();
  core::Log log(config, session.rank());
  const auto interfaces = conduits::udp::list_interfaces();
  const auto choice = conduits::udp::choose_interface(wish, interfaces, log);
  if (choice.ok()) here_ = choice->interface.address;
  possible_ = session.everyone(choice.ok());
}

std::optional<BareSocket> SocketMeeting::datagrams() {
  std::optional<BareSocket> socket;
  if (has_peer()) socket.emplace(here_, SOCK_DGRAM);
  const auto addresses = session_.exchange(socket ? socket->address() : Address{});
  if (socket) socket->connect(addresses[role_.peer]);
  // The peer must be connected before this side sends, because an unconnected socket would refuse the datagrams.
  require(session_.ep().barrier(), "barrier");
  return socket;
}

std::optional<BareSocket> SocketMeeting::stream() {
  std::optional<BareSocket> socket;
  if (has_peer()) socket.emplace(here_, SOCK_STREAM);
  if (socket && !role_.active) socket->listen();
  const auto addresses = session_.exchange(socket ? socket->address() : Address{});
  if (!socket) return std::nullopt;
  if (!role_.active) return socket->accept();
  socket->connect(addresses[role_.peer]);
  return socket;
}

}  // namespace aqueduct::perf
