// The layer of tests/layer in many rounds: every conduit, from 2 to 8 ranks, one thread and several, and udp's faults.

#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include <sys/wait.h>

namespace {

struct Where {
  const char* name;
  const char* conduit;
  const char* settings;
  int rounds;
  bool one_process = false;
};

struct LayerJob {
  Where where;
  int ranks;
  bool threads;
  std::string name() const {
    return where.name + std::string("_") + std::to_string(ranks) + (threads ? "_threads" : "");
  }
};
void PrintTo(const LayerJob& job, std::ostream* out) { *out << job.name(); }

constexpr const char* kAllFaults = "loss=1%,delay=1ms,jitter=0.5ms,reorder=25%,duplicate=5%,corrupt=1%";

/// Every place with every number of ranks, with and without several threads.
std::vector<LayerJob> matrix() {
  const std::string faults = kAllFaults;
  static const std::string udp_faults = "AQUEDUCT_NEAR=off AQUEDUCT_UDP_FAULTS='" + faults + "'";
  const Where places[] = {
      {"smp", "smp", "", 20},
      {"smp_cramped", "smp", "AQUEDUCT_SMP_SLOTS=1 AQUEDUCT_SPIN=0 AQUEDUCT_YIELD=0", 5},
      {"udp", "udp", "AQUEDUCT_NEAR=off", 10},
      {"udp_faults", "udp", udp_faults.c_str(), 3},
      {"udp_loss", "udp", "AQUEDUCT_NEAR=off AQUEDUCT_UDP_FAULTS='loss=10%'", 3},
      {"udp_reorder", "udp", "AQUEDUCT_NEAR=off AQUEDUCT_UDP_FAULTS='reorder=25%,duplicate=5%'", 5},
      {"ofi", "ofi", "AQUEDUCT_NEAR=off AQUEDUCT_OFI_PROVIDER='tcp;ofi_rxm'", 5},
      {"ucx", "ucx", "AQUEDUCT_NEAR=off", 10},
      {"ucx_tcp", "ucx", "AQUEDUCT_NEAR=off AQUEDUCT_UCX_TRANSPORTS=tcp,self", 5},
      {"loop", "loop", "AQUEDUCT_NEAR=off", 10, true},
      {"loop_native", "loop", "AQUEDUCT_NEAR=off AQUEDUCT_LOOP_NATIVE=rma", 10, true},
  };
  std::vector<LayerJob> jobs;
  for (const Where& where : places) {
    for (const int ranks : {2, 3, 5, 8}) {
      jobs.push_back({where, ranks, false});
      jobs.push_back({where, ranks, true});
    }
  }
  return jobs;
}

class LayerStress : public testing::TestWithParam<LayerJob> {};

TEST_P(LayerStress, GetsTheRightAnswers) {
  const auto& [where, ranks, threads] = GetParam();
  const std::string n = std::to_string(ranks);
  const std::string command = std::string(where.settings) + " " AQUEDUCT_BIN_DIR "/aqrun --timeout 200 -n " +
                              n + (where.one_process ? " --endpoints " + n : "") + " --conduit " +
                              where.conduit + " " AQUEDUCT_BIN_DIR "/layer --rounds " +
                              std::to_string(where.rounds) + (threads ? " --threads" : "");
  RecordProperty("command", command);
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "again with: " << command;
}

INSTANTIATE_TEST_SUITE_P(Matrix, LayerStress, testing::ValuesIn(matrix()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
