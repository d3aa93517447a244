#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace aqueduct::support {

/// What connects the hosts: the kernel (two hosts by a veth pair, more by a bridge in a namespace of its own), or the
/// holder of the other end of each host's eth0 (NetworkNamespaces::plug).
enum class Joined { by_kernel, by_holder };

/// Network namespaces that stand for hosts. Each has `lo`, and `eth0` with an IPv4 and an IPv6 address. The
/// destructor removes them; those of a test process that died are removed when the next one makes some. Needs root.
class NetworkNamespaces {
 public:
  /// Whether this machine and user can have namespaces, and drop packets in
  /// them; if not, `why` is text for GTEST_SKIP.
  static bool usable(std::string& why);
  static bool can_drop(std::string& why);
  /// Whether `disturb` works: some kernels lack netem.
  static bool can_disturb(std::string& why);
  /// Whether `plug` works.
  static bool can_hold(std::string& why);

  /// Requires: usable; 2 to 200 hosts. Errors are failures of the test, and are in `problem`.
  explicit NetworkNamespaces(unsigned hosts, Joined joined = Joined::by_kernel);
  ~NetworkNamespaces();
  NetworkNamespaces(const NetworkNamespaces&) = delete;
  NetworkNamespaces& operator=(const NetworkNamespaces&) = delete;

  const std::string& problem() const noexcept { return problem_; }
  const std::string& name(unsigned host) const { return names_.at(host); }
  static std::string ipv4(unsigned host);
  static std::string ipv6(unsigned host);
  static constexpr std::string_view kDevice = "eth0";
  /// How aqrun starts ranks there: the value of --remote.
  static constexpr std::string_view kRemote = "ip netns exec {host} {command}";
  /// The text of a hosts file that lists all of them.
  std::string hosts_file(unsigned slots) const;

  /// From now on `per_mille` of a thousand packets that reach the host's
  /// eth0 are dropped at random. False: it failed.
  bool drop(unsigned host, unsigned per_mille);
  bool drop_no_more(unsigned host);
  /// From now on these two hosts receive nothing from each other.
  bool part(unsigned host, unsigned other);
  /// From now on netem delays or drops what the host sends over eth0, as
  /// these words of tc(8) say: "delay 1ms loss 1%".
  bool disturb(unsigned host, const std::string& netem);
  bool disturb_no_more(unsigned host);
  /// From now on IPv6 packets and fragments longer than `bytes` bytes are dropped on their way to the host's eth0.
  bool carry_at_most(unsigned host, unsigned bytes);
  /// Pulls the host's cable, or plugs it in again.
  bool set_link(unsigned host, bool up);
  /// Gives a host of Joined::by_holder its eth0, and the caller the other end: each read returns an
  /// Ethernet frame that the host sends, and each write is a frame that it receives; neither
  /// blocks. Owned by the caller; -1 if it failed.
  int plug(unsigned host);
  /// Moves the calling thread, and all that it makes later, to the host: for a process that has just
  /// been forked. False and errno if that failed.
  bool enter(unsigned host) const;
  /// A socket in the host's namespace. Owned by the caller; -1 and errno.
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
