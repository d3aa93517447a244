#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <variant>
#include <vector>

namespace aqrun {

/// A line of the hosts file.
struct Host {
  std::string name;
  std::uint32_t slots = 0;  ///< how many ranks it takes; 0: not given, hosts share evenly
  bool operator==(const Host&) const = default;
};

/// A host's part of a job: `processes` processes, beginning with number `first`.
struct Share {
  std::string host;
  std::uint32_t first = 0;
  std::uint32_t processes = 0;
  bool operator==(const Share&) const = default;
};

/// Reads one "name [slots=K]" per line; a comment goes from # to the end of the line. `file` is the name for error
/// texts. Returns the hosts, or what is wrong, as readable text.
std::variant<std::vector<Host>, std::string> read_hosts(std::istream& in, const std::string& file);
/// Reads the same from a file.
std::variant<std::vector<Host>, std::string> read_hosts_file(const std::string& file);

/// Fills the hosts in order, each with as many ranks as it has slots. Without slots, ranks are shared evenly, and the
/// first hosts get one more. A process of several ranks takes as many slots; the last one may have fewer ranks than the
/// others. Hosts without ranks are left out.
std::variant<std::vector<Share>, std::string> place(const std::vector<Host>& hosts, std::uint32_t ranks,
                                                    std::uint32_t ranks_per_process);

}  // namespace aqrun
