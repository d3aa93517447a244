#pragma once

#include <aqueduct/rank.hpp>

#include <string>
#include <vector>

namespace aqueduct::perf {

/// Hosts that aqrun pretends on this one: their ranks share no memory with those of the others, and reach them by the network conduit.
class PretendedHosts {
 public:
  /// Writes the list of hosts to a file. Throws Failure if that cannot be.
  PretendedHosts(Rank hosts, Rank each);
  ~PretendedHosts();
  PretendedHosts(PretendedHosts&& other) noexcept;
  PretendedHosts& operator=(PretendedHosts&&) = delete;

  std::vector<std::string> aqrun_options() const;

 private:
  std::string file_;  // empty: moved from
};

}  // namespace aqueduct::perf
