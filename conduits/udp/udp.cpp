#include "conduits/udp/udp.hpp"

#include "conduits/udp/carrier/fault_plan.hpp"
#include "conduits/udp/udp_network.hpp"
#include "core/descriptors.hpp"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <unistd.h>

namespace aqueduct::conduits::udp {
namespace {

constexpr SettingInfo kSettings[] = {
    {"udp_interface", "AQUEDUCT_UDP_INTERFACE", SettingType::text, "", "",
     "The network to use: an interface (eth0), an address, or a subnet (10.1.0.0/16). Empty chooses."},
    {"udp_family", "AQUEDUCT_UDP_FAMILY", SettingType::choice, "", "auto",
     "The version of IP; auto prefers IPv4.", 0, 0, "auto|ipv4|ipv6"},
    {"udp_port", "AQUEDUCT_UDP_PORT", SettingType::number, "", "0",
     "Port of a host's first rank; the others take the next ones. 0 lets the system choose.", 0, 65535},
    {"udp_security", "AQUEDUCT_UDP_SECURITY", SettingType::choice, "", "header",
     "header authenticates all but bulk data, full encrypts everything, none is for isolated networks.", 0, 0,
     "none|header|full"},
    {"udp_timeout", "AQUEDUCT_UDP_TIMEOUT", SettingType::duration, "s", "5s",
     "A peer that has been silent for this time is reported as lost.", 100'000'000, 3'600'000'000'000},
    {"udp_progress", "AQUEDUCT_UDP_PROGRESS", SettingType::duration, "ms", "10ms",
     "After this time without a call, a thread answers peers in a rank's place. 0: never.", 0,
     3'600'000'000'000},
    {"udp_packet", "AQUEDUCT_UDP_PACKET", SettingType::bytes, "bytes", "65504",
     "The longest datagram, where the path takes it.", 576, 65504},
    {"udp_receive_buffer", "AQUEDUCT_UDP_RECEIVE_BUFFER", SettingType::bytes, "bytes", "4M",
     "Buffer to request from the system for arriving datagrams.", 64 << 10, 1 << 30},
    {"udp_send_buffer", "AQUEDUCT_UDP_SEND_BUFFER", SettingType::bytes, "bytes", "1M",
     "Buffer to request from the system for departing datagrams.", 64 << 10, 1 << 30},
    {"udp_offload", "AQUEDUCT_UDP_OFFLOAD", SettingType::boolean, "", "on",
     "Whether the system may split and join datagrams (GSO, GRO) and take several at once."},
    {"udp_faults", "AQUEDUCT_UDP_FAULTS", SettingType::text, "", "",
     "For tests: faults to inject into arriving datagrams, such as loss=1%,delay=1ms,reorder=25%,seed=7."},
};

std::string check(const SettingInfo& setting, std::string_view value) {
  return setting.name == "udp_faults" ? parse_fault_plan(value).problem : std::string();
}

core::Usability probe(const Config& config) {
  const int fd = core::above_standard(
      ::socket(config.text("udp_family") == "ipv6" ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd < 0) return {false, std::string("this system gives no UDP socket: ") + std::strerror(errno)};
  ::close(fd);
  return {true, "any IP network; security " + config.text("udp_security"), core::Wire::sockets};
}

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  return std::unique_ptr<core::Network>(std::make_unique<UdpNetwork>(process));
}

}  // namespace

const core::ConduitEntry udp_entry{
    .name = "udp",
    .summary = "any IP network, through UDP sockets; repairs loss by itself",
    .crosses_hosts = true,
    .settings = kSettings,
    .check = check,
    .probe = probe,
    .make = make,
};

}  // namespace aqueduct::conduits::udp
