#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace aqueduct::support {

/// What joins hosts: the kernel (two by a cable, more by a switch, which has a namespace of its own), or, through
/// NetworkNamespaces::plug, whoever holds the other end of each one's eth0.
enum class Joined { by_kernel, by_holder };

/// Network namespaces that stand for hosts. Each has `lo`, and `eth0` with an IPv4 and an IPv6 address. All go with
/// this object; what a test process that died has left goes when the next one makes some. Needs root.
class NetworkNamespaces {
 public:
  /// Whether this machine and user can have them; if not, why, for GTEST_SKIP. Whether packets can be dropped.
  static bool usable(std::string& why);
  static bool can_drop(std::string& why);
  /// Whether `disturb` works: some kernels have no netem.
  static bool can_disturb(std::string& why);
  /// Whether `plug` works.
  static bool can_hold(std::string& why);

  /// Requires: usable; 2 to 200 hosts. What goes wrong is a failure of the test, and in `problem`.
  explicit NetworkNamespaces(unsigned hosts, Joined joined = Joined::by_kernel);
  ~NetworkNamespaces();
  NetworkNamespaces(const NetworkNamespaces&) = delete;
  NetworkNamespaces& operator=(const NetworkNamespaces&) = delete;

  const std::string& problem() const noexcept { return problem_; }
  const std::string& name(unsigned host) const { return names_.at(host); }
  static std::string ipv4(unsigned host);
  static std::string ipv6(unsigned host);
  static constexpr std::string_view kDevice = "eth0";
  /// How aqrun starts ranks there: for --remote.
  static constexpr std::string_view kRemote = "ip netns exec {host} {command}";
  /// The text of a hosts file with all of them.
  std::string hosts_file(unsigned slots) const;

  /// From now on, so many of a thousand packets that reach the host's eth0 are lost, at random. False: it failed.
  bool drop(unsigned host, unsigned per_mille);
  bool drop_no_more(unsigned host);
  /// From now on, netem does to what the host sends over eth0 what these words of tc(8) say: "delay 1ms loss 1%".
  bool disturb(unsigned host, const std::string& netem);
  bool disturb_no_more(unsigned host);
  /// From now on, IPv6 packets and fragments longer than so many bytes vanish on their way to the host's eth0.
  bool carry_at_most(unsigned host, unsigned bytes);
  /// Pulls the host's cable, or plugs it in again.
  bool set_link(unsigned host, bool up);
  /// Gives a host that a holder joins its eth0, and the holder the other end: a read gives an Ethernet frame that the
  /// host sends, and a write one that it receives; neither waits. Owned by the caller; -1 if it failed.
  int plug(unsigned host);
  /// The calling thread lives there from now on, and what it makes: for a process that has just been forked.
  /// False and errno.
  bool enter(unsigned host) const;
  /// A socket that lives there. Owned by the caller; -1 and errno.
  int open_socket(unsigned host, int domain, int type) const;

 private:
  bool run(const std::string& command);
  void in_thread_there(unsigned host, const std::function<void()>& what) const;
  void address_host(unsigned host);
  void join_two();
  void join_by_switch();
  void wait_for_link(unsigned host);

  const pid_t maker_;  // forked children have copies of this object, and must not remove anything
  std::string prefix_;
  std::vector<std::string> names_;
  std::string switch_;
  std::vector<std::string> made_;
  std::string problem_;
};

}  // namespace aqueduct::support
