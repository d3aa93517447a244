#include "conduits/udp/udp_network.hpp"

#include "conduits/udp/carrier/fault_plan.hpp"
#include "conduits/udp/carrier/faulty_carrier.hpp"
#include "conduits/udp/carrier/socket_carrier.hpp"
#include "conduits/udp/udp_conduit.hpp"

#include <algorithm>

namespace aqueduct::conduits::udp {
namespace {

Family family_of(const Config& config) {
  const std::string name = config.text("udp_family");
  return name == "ipv4" ? Family::ipv4 : name == "ipv6" ? Family::ipv6 : Family::automatic;
}

Security security_of(const Config& config) {
  const std::string name = config.text("udp_security");
  return name == "none" ? Security::none : name == "full" ? Security::full : Security::header;
}

// A rank that computes is silent for up to twice the patience (core::ProgressThread), and its last packet may be one heartbeat
// old, a fifth of the timeout. The rest is for the machine's schedule.
void tell_of_times(Time patience, Time timeout, core::Log& log) {
  if (patience == 0 || timeout >= 4 * patience) return;
  log.warn(
      "AQUEDUCT_UDP_TIMEOUT={} ms is less than four times AQUEDUCT_UDP_PROGRESS={} ms: a rank that computes "
      "may be taken for "
      "lost before its thread answers; set a longer timeout or a shorter time of progress",
      timeout / kMillisecond, patience / kMillisecond);
}

}  // namespace

Result<InterfaceInfo> UdpNetwork::interface() {
  const std::lock_guard lock(mutex_);
  if (chosen_) return *chosen_;
  InterfaceWish wish;
  wish.text = process_.config->text("udp_interface");
  wish.family = family_of(*process_.config);
  wish.one_host = std::equal(process_.host.begin() + 1, process_.host.end(), process_.host.begin());
  const auto choice = choose_interface(wish, list_interfaces(), *process_.log);
  if (!choice) return choice.status();
  process_.log->debug("udp: uses {} ({}): {}", choice->interface.name, choice->interface.address.host_text(),
                      choice->why);
  chosen_ = choice->interface;
  return *chosen_;
}

Result<std::unique_ptr<core::Conduit>> UdpNetwork::open(Rank me) {
  const Config& config = *process_.config;
  const auto interface = this->interface();
  if (!interface) return interface.status();
  const auto on_host = static_cast<std::uint16_t>(
      std::count(process_.host.begin(), process_.host.begin() + me, process_.host[me]));
  const auto first_port = config.number("udp_port");
  if (first_port != 0 && first_port + on_host > 65535) {
    process_.log->error(
        "AQUEDUCT_UDP_PORT={}: rank {} would need port {}, and the last one is 65535; take a lower one",
        first_port, me, first_port + on_host);
    return ErrorCode::bad_setting;
  }
  const bool offload = config.flag("udp_offload");
  SocketCarrier::Options wanted;
  wanted.bind_to = interface->address.with_port(
      first_port == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(first_port + on_host));
  wanted.send_buffer = static_cast<int>(config.number("udp_send_buffer"));
  wanted.receive_buffer = static_cast<int>(config.number("udp_receive_buffer"));
  wanted.allow_gso = wanted.allow_gro = wanted.allow_mmsg = offload;
  const auto plan = parse_fault_plan(config.text("udp_faults")).plan;
  wanted.plain_reads = !plan.any();  // the faulty carrier needs datagram lengths
  auto socket = SocketCarrier::open(wanted, *process_.log);
  if (!socket) return socket.status();

  UdpOptions options;
  if (!make_secret(options.secret)) {
    process_.log->error("udp: the system has no random bytes to make keys of (getrandom)");
    return ErrorCode::network_failed;
  }
  options.security = security_of(config);
  options.patience = config.nanoseconds("udp_progress");
  options.timeout = config.nanoseconds("udp_timeout");
  if (me == process_.mine.front()) tell_of_times(options.patience, options.timeout, *process_.log);
  options.most_datagram = static_cast<std::size_t>(config.number("udp_packet")) & ~std::size_t{7};
  options.mtu_hint = payload_of(*interface);
  options.receive_buffer = static_cast<std::size_t>((*socket)->receive_buffer());
  options.shares_process = process_.mine.size() > 1;
  options.network = kind_of(*interface);
  const Address local = (*socket)->local();
  std::unique_ptr<Carrier> carrier = std::move(*socket);
  if (plan.any()) {
    carrier = std::make_unique<FaultyCarrier>(
        std::move(carrier), plan, [clock = process_.clock] { return time_of(clock); }, me);
  }
  return std::unique_ptr<core::Conduit>(
      std::make_unique<UdpConduit>(std::move(carrier), local, options, process_, me, process_conduits_));
}

}  // namespace aqueduct::conduits::udp
