#pragma once

#include "tools/aqrun/children.hpp"
#include "tools/aqrun/environment.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <sched.h>

namespace aqrun {

/// What starts the processes of a job on this host.
class RankProgram {
 public:
  /// `program` and its arguments; `environment`: "NAME=value", in addition to this process's
  /// variables; `binding` and `ranks_of`: see choose_binding.
  RankProgram(std::vector<std::string> program, const std::vector<std::string>& environment,
              const std::string& binding, const std::vector<std::uint32_t>& ranks_of);

  /// The exit status if nothing can be started, or 0; and the reason, in words.
  int status() const noexcept { return status_; }
  const std::string& why() const noexcept { return why_; }

  /// Starts process number `place` of this host. `start` has the descriptors; `bootstrap` is
  /// the value of AQUEDUCT_BOOTSTRAP; `endpoints` is the value of AQUEDUCT_ENDPOINTS, unless
  /// 0. Returns the process id, or -1 and errno.
  pid_t start(Children& children, std::uint32_t place, Start start, const std::string& bootstrap,
              std::uint32_t endpoints);
  /// Why `start` has failed, by errno, in words.
  std::string why_not_started() const;

 private:
  std::vector<std::string> program_;
  Environment environment_;
  std::vector<cpu_set_t> places_;
  std::string file_, why_;
  int status_ = 0;
};

}  // namespace aqrun
