#include "tests/support/network_namespaces.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace aqueduct::support {
namespace {

constexpr const char* kPrefix = "aqtest";  // followed by the process id, a dash, and a number

constexpr const char* kTapMaker = "/dev/net/tun";

struct Said {
  bool good = false;
  std::string text;
};

Said shell(const std::string& command) {
  Said said;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return said;
  std::array<char, 4096> piece;
  for (std::size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    said.text.append(piece.data(), got);
  said.good = ::pclose(pipe) == 0;
  return said;
}

/// Removes namespaces of processes that no longer exist.
void remove_leftovers() {
  std::istringstream all(shell("ip netns list").text);
  for (std::string line; std::getline(all, line);) {
    const std::string name = line.substr(0, line.find(' '));
    long pid = 0;
    if (std::sscanf(name.c_str(), "aqtest%ld-", &pid) != 1 || pid <= 0) continue;
    if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) shell("ip netns del " + name);
  }
}

std::string new_prefix() {
  static std::atomic<int> made{0};
  return fmt::format("{}{}-{}", kPrefix, ::getpid(), made.fetch_add(1));
}

}  // namespace

bool NetworkNamespaces::usable(std::string& why) {
  if (::geteuid() != 0) {
    why = "network namespaces need root";
    return false;
  }
  const std::string name = new_prefix() + "try";
  const Said added = shell("ip netns add " + name);
  const Said linked =
      added.good ? shell(fmt::format("ip link add eth0 netns {0} type veth peer name eth1 netns {0}", name))
                 : Said{};
  if (added.good) shell("ip netns del " + name);
  if (!linked.good) why = "no network namespaces here: " + added.text + linked.text;
  return linked.good;
}

bool NetworkNamespaces::can_drop(std::string& why) {
  const Said nft = shell("nft --version");
  if (!nft.good) why = "nft, which drops packets, does not run: " + nft.text;
  return nft.good;
}

bool NetworkNamespaces::can_hold(std::string& why) {
  const int tap = ::open(kTapMaker, O_RDWR | O_CLOEXEC);
  if (tap < 0) why = fmt::format("no tap devices: {}: {}", kTapMaker, std::strerror(errno));
  if (tap >= 0) ::close(tap);
  return tap >= 0;
}

bool NetworkNamespaces::can_disturb(std::string& why) {
  const std::string name = new_prefix() + "try";
  const Said added = shell("ip netns add " + name);
  const Said set =
      added.good ? shell("ip netns exec " + name + " tc qdisc add dev lo root netem delay 1ms") : Said{};
  if (added.good) shell("ip netns del " + name);
  if (!set.good)
    why = "no netem here, which delays packets; try it on a kernel with netem: " + added.text + set.text;
  return set.good;
}

NetworkNamespaces::NetworkNamespaces(unsigned hosts, Joined joined)
    : maker_(::getpid()), prefix_(new_prefix()) {
  remove_leftovers();
  for (unsigned i = 0; i < hosts; ++i) {
    names_.push_back(fmt::format("{}-h{}", prefix_, i));
    if (run("ip netns add " + names_[i])) made_.push_back(names_[i]);
  }
  if (joined == Joined::by_kernel) {
    if (hosts == 2) {
      join_two();
    } else {
      join_by_switch();
    }
    for (unsigned i = 0; i < hosts; ++i) address_host(i);
    for (unsigned i = 0; i < hosts && problem_.empty(); ++i) wait_for_link(i);
  }
  if (!problem_.empty()) ADD_FAILURE() << problem_;
}

NetworkNamespaces::~NetworkNamespaces() {
  if (::getpid() != maker_) return;
  for (const std::string& name : made_) run("ip netns del " + name);
}

void NetworkNamespaces::join_two() {
  run(fmt::format("ip link add {0} netns {1} type veth peer name {0} netns {2}", kDevice, names_[0],
                  names_[1]));
}

void NetworkNamespaces::join_by_switch() {
  switch_ = prefix_ + "-hub";
  if (run("ip netns add " + switch_)) made_.push_back(switch_);
  run(fmt::format("ip -n {} link add bridge type bridge", switch_));
  run(fmt::format("ip -n {} link set bridge up", switch_));
  for (unsigned i = 0; i < names_.size(); ++i) {
    run(fmt::format("ip link add {} netns {} type veth peer name port{} netns {}", kDevice, names_[i], i,
                    switch_));
    run(fmt::format("ip -n {} link set port{} master bridge up", switch_, i));
  }
}

void NetworkNamespaces::address_host(unsigned host) {
  const std::string ip = "ip -n " + names_[host];
  run(ip + " link set lo up");
  run(fmt::format("{} addr add {}/24 dev {}", ip, ipv4(host), kDevice));
  // nodad skips the wait of duplicate address detection: there are no other hosts.
  run(fmt::format("{} -6 addr add {}/64 dev {} nodad", ip, ipv6(host), kDevice));
  run(fmt::format("{} link set {} up", ip, kDevice));
}

// When the other end of a cable is plugged in, the kernel reports it with a delay.
void NetworkNamespaces::wait_for_link(unsigned host) {
  const std::string show = fmt::format("ip -n {} -o link show dev {}", names_.at(host), kDevice);
  for (int tries = 0; tries < 1000; ++tries) {
    if (shell(show).text.find("state UP") != std::string::npos) return;
    ::poll(nullptr, 0, 5);
  }
  problem_ = show + ": the link does not come up";
}

std::string NetworkNamespaces::ipv4(unsigned host) { return fmt::format("10.77.0.{}", host + 1); }

std::string NetworkNamespaces::ipv6(unsigned host) { return fmt::format("fd77::{:x}", host + 1); }

std::string NetworkNamespaces::hosts_file(unsigned slots) const {
  std::string text;
  for (const std::string& name : names_) text += fmt::format("{} slots={}\n", name, slots);
  return text;
}

bool NetworkNamespaces::drop(unsigned host, unsigned per_mille) {
  const std::string nft = "ip netns exec " + names_.at(host) + " nft ";
  drop_no_more(host);
  return run(nft + "add table inet faults") &&
         run(nft + "'add chain inet faults arriving { type filter hook input priority 0; }'") &&
         run(fmt::format("{}'add rule inet faults arriving iifname {} numgen random mod 1000 < {} drop'", nft,
                         kDevice, per_mille));
}

bool NetworkNamespaces::part(unsigned host, unsigned other) {
  for (const auto& [here, there] : {std::pair(host, other), std::pair(other, host)}) {
    const std::string nft = "ip netns exec " + names_.at(here) + " nft ";
    drop_no_more(here);
    if (!run(nft + "add table inet faults") ||
        !run(nft + "'add chain inet faults arriving { type filter hook input priority 0; }'") ||
        !run(fmt::format("{}add rule inet faults arriving ip saddr {} drop", nft, ipv4(there))) ||
        !run(fmt::format("{}add rule inet faults arriving ip6 saddr {} drop", nft, ipv6(there)))) {
      return false;
    }
  }
  return true;
}

bool NetworkNamespaces::carry_at_most(unsigned host, unsigned bytes) {
  const std::string nft = "ip netns exec " + names_.at(host) + " nft ";
  drop_no_more(host);
  // This hook runs before fragments are reassembled; `length` counts what follows the header.
  return run(nft + "add table inet faults") &&
         run(nft + "'add chain inet faults arriving { type filter hook prerouting priority -500; }'") &&
         run(fmt::format("{}'add rule inet faults arriving iifname {} ip6 length > {} drop'", nft, kDevice,
                         bytes - 40));
}

bool NetworkNamespaces::drop_no_more(unsigned host) {
  // Adding an existing table is no error, so this ensures that there is one to delete.
  const std::string nft = "ip netns exec " + names_.at(host) + " nft ";
  return run(nft + "add table inet faults") && run(nft + "delete table inet faults");
}

bool NetworkNamespaces::disturb(unsigned host, const std::string& netem) {
  // A large queue for delayed packets: netem drops those that do not fit.
  return run(fmt::format("ip netns exec {} tc qdisc replace dev {} root netem limit 100000 {}",
                         names_.at(host), kDevice, netem));
}

bool NetworkNamespaces::disturb_no_more(unsigned host) {
  // Sets netem first, because deleting it fails if it is not set.
  return disturb(host, "") &&
         run(fmt::format("ip netns exec {} tc qdisc del dev {} root", names_[host], kDevice));
}

bool NetworkNamespaces::set_link(unsigned host, bool up) {
  if (!run(fmt::format("ip -n {} link set {} {}", names_.at(host), kDevice, up ? "up" : "down")))
    return false;
  // The kernel removes IPv6 addresses when an interface goes down.
  return !up ||
         run(fmt::format("ip -n {} -6 addr replace {}/64 dev {} nodad", names_[host], ipv6(host), kDevice));
}

int NetworkNamespaces::plug(unsigned host) {
  int tap = -1, error = 0;
  in_thread_there(host, [&] {
    ifreq wanted{};
    wanted.ifr_flags = IFF_TAP | IFF_NO_PI;
    kDevice.copy(wanted.ifr_name, sizeof wanted.ifr_name - 1);
    tap = ::open(kTapMaker, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (tap >= 0 && ::ioctl(tap, TUNSETIFF, &wanted) != 0) {
      error = errno;
      ::close(std::exchange(tap, -1));
    }
  });
  if (tap < 0) {
    ADD_FAILURE() << kTapMaker << ": " << std::strerror(error);
    return -1;
  }
  address_host(host);
  if (!problem_.empty()) ADD_FAILURE() << problem_;
  return tap;
}

bool NetworkNamespaces::enter(unsigned host) const {
  const int there = ::open(("/run/netns/" + names_.at(host)).c_str(), O_RDONLY | O_CLOEXEC);
  if (there < 0) return false;
  const bool entered = ::setns(there, CLONE_NEWNET) == 0;
  const int error = errno;
  ::close(there);
  errno = error;
  return entered;
}

// A thread has a network namespace of its own, and its sockets stay in it.
void NetworkNamespaces::in_thread_there(unsigned host, const std::function<void()>& what) const {
  std::thread([&] {
    if (enter(host)) what();
  }).join();
}

int NetworkNamespaces::open_socket(unsigned host, int domain, int type) const {
  int opened = -1, error = 0;
  in_thread_there(host, [&] {
    opened = ::socket(domain, type | SOCK_CLOEXEC, 0);
    error = errno;
  });
  errno = error;
  return opened;
}

bool NetworkNamespaces::run(const std::string& command) {
  const Said said = shell(command);
  if (!said.good && problem_.empty()) problem_ = command + ": " + said.text;
  return said.good;
}

}  // namespace aqueduct::support
