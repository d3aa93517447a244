#pragma once

#include "tools/aqrun/agent_setup.hpp"
#include "tools/aqrun/channel.hpp"
#include "tools/aqrun/children.hpp"
#include "tools/aqrun/rank_program.hpp"

#include <array>
#include <string>
#include <vector>

#include <poll.h>

namespace aqrun {

/// The hidden option: this aqrun is another one's hand on this host.
inline constexpr const char* kAgentOption = "--agent";

/// Starts a host's part of a job for an aqrun at the other end of the standard streams, and carries what the
/// ranks and that aqrun say to one another. When the streams end, so do the ranks.
class Agent {
 public:
  Agent(Channel& channel, AgentSetup setup, Leader& leader);

  /// `behind`: what came behind the setup. Returns the status with which the agent ends.
  int run(std::vector<Frame> behind);

 private:
  struct Process {
    pid_t pid = -1;
    Tube bootstrap;
    std::array<Tube, 2> streams;  // output, errors
  };

  struct Refusal {
    int status = 0;  ///< 0: none
    std::string why;
  };

  Refusal start_all();
  std::string start_one(std::uint32_t place, RankProgram& program);
  void wait() const;
  void serve();
  void take(Frame& frame);
  void take_for_process(Frame& frame);
  void relay_bootstrap(std::uint32_t place);
  bool relay_streams(std::uint32_t place);
  void relay_input();
  void ended(pid_t pid, int wait_status);
  void clear();
  std::uint32_t number(std::uint32_t place) const noexcept {
    return setup_.processes.front().about.process + place;
  }
  std::uint64_t job() const noexcept { return setup_.processes.front().about.job; }

  Channel& channel_;
  AgentSetup setup_;
  Children children_;
  std::vector<Process> processes_;
  std::array<std::uint32_t, 2> allowed_{kWindow, kWindow};  // bytes that may still be sent
  Tube input_;                                              // to the first process
  std::uint32_t input_taken_ = 0;                           // bytes that aqrun has not been told of
  bool input_over_ = false, input_told_ = true;
  bool cleared_ = false;  // from then on, only what was written is brought on
  bool drained_ = false;
  int asked_ = 0;  // a signal to the agent itself
};

/// The whole life of an agent. Requires: the standard descriptors are open.
int run_agent();

}  // namespace aqrun
