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

/// The hidden option that makes this aqrun an agent: it acts on this host for an aqrun elsewhere.
inline constexpr const char* kAgentOption = "--agent";

/// Starts one host's part of a job for the aqrun at the other end of the standard streams, and relays what the ranks
/// and that aqrun send one another. When the streams end, the agent kills the ranks.
class Agent {
 public:
  Agent(Channel& channel, AgentSetup setup, Leader& leader);

  /// `behind`: frames that came behind the setup. Returns the agent's exit status.
  int run(std::vector<Frame> behind);

 private:
  struct Process {
    pid_t pid = -1;
    Tube bootstrap;
    std::array<Tube, 2> streams;  // standard output, standard error
  };

  struct Refusal {
    int status = 0;  ///< 0: not refused
    std::string why;
  };

  Refusal start_all();
  std::string start_one(std::uint32_t place, RankProgram& program);
  void wait() const;
  void serve();
  void take(Frame& frame);
  void take_for_process(Frame& frame);
  void take_signal(std::uint32_t number);
  void pass_on(int signal);
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
  Tube input_;                                              // to the first process's standard input
  std::uint32_t input_taken_ = 0;                           // bytes that aqrun has not been told of yet
  bool input_over_ = false, input_told_ = true;
  bool cleared_ = false;  // aqrun has asked to end everything: only what was already written is still relayed
  bool drained_ = false;
  int asked_ = 0;  // the signal that the agent itself received, or 0
};

/// Runs an agent to its end. Requires: the standard descriptors are open.
int run_agent();

}  // namespace aqrun
