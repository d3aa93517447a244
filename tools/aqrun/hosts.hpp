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
  std::uint32_t slots = 0;  ///< how many ranks it takes; 0: as many as the others
  bool operator==(const Host&) const = default;
};

/// A host's part of a job: so many processes, beginning with `first`.
struct Share {
  std::string host;
  std::uint32_t first = 0;
  std::uint32_t processes = 0;
  bool operator==(const Share&) const = default;
};

/// Reads "name [slots=K]" a line, and comments from # to the end of a line. `file` names it in complaints.
/// Returns why that cannot be, as text for people, when it cannot.
std::variant<std::vector<Host>, std::string> read_hosts(std::istream& in, const std::string& file);
/// The same from a file.
std::variant<std::vector<Host>, std::string> read_hosts_file(const std::string& file);

/// Fills host after host by its slots; without slots, all hosts get as many, or one more than the later ones.
/// A process of several ranks takes as many slots. Hosts that get nothing are left out.
std::variant<std::vector<Share>, std::string> place(const std::vector<Host>& hosts, std::uint32_t processes,
                                                    std::uint32_t ranks_per_process);

}  // namespace aqrun
