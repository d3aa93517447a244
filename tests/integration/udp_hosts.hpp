#pragma once

#include "tests/support/network_namespaces.hpp"
#include "tests/support/scratch_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace aqueduct::integration {

using Words = std::vector<std::string>;

inline Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The command line of one of this build's programs.
inline Words built(const std::string& name, const Words& arguments = {}) {
  return joined({AQUEDUCT_BIN_DIR "/" + name}, arguments);
}

/// Hosts that are network namespaces, of two ranks each: smp inside, udp between.
class UdpHosts {
 public:
  explicit UdpHosts(unsigned hosts, support::Joined how = support::Joined::by_kernel)
      : net(hosts, how), ranks_(2 * hosts) {
    std::ofstream(folder_ / "hosts") << net.hosts_file(2);
  }
  /// aqrun's command line for running `what` there.
  Words run(const Words& options, const Words& what) const {
    Words all{"-n",        std::to_string(ranks_),
              "--hosts",   (folder_ / "hosts").string(),
              "--remote",  std::string(support::NetworkNamespaces::kRemote),
              "--bind",    "none",
              "--timeout", "25"};
    return joined(joined(all, options), what);
  }
  static bool in(const std::string& host, const std::string& command) {
    return std::system(("ip netns exec " + host + " " + command).c_str()) == 0;
  }

  support::NetworkNamespaces net;

 private:
  const support::ScratchFolder folder_;
  const unsigned ranks_;
};

}  // namespace aqueduct::integration
