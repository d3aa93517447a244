#include "tests/fault/slurm.hpp"

#include "tests/fault/commands.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqueduct::fault {
namespace {

/// A port that is not in use now.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  int port = 0;
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes) == 0) {
    port = ntohs(address.sin_port);
  }
  ::close(fd);
  return port;
}

}  // namespace

bool Slurm::usable(std::string& why) {
  if (::geteuid() != 0) why = "a Slurm of the test's own needs root";
  for (const char* name : {"munged", "slurmctld", "slurmd", "srun"}) {
    if (!is_installed(name)) why = fmt::format("there is no {}: apt-get install slurm-wlm munge", name);
  }
  return why.empty();
}

void Slurm::write_files() {
  const std::string& folder = folder_.path();
  std::ofstream(folder_ / "slurm.conf") << fmt::format(
      "ClusterName=aqueduct\n"
      "SlurmctldHost=localhost(127.0.0.1)\n"
      "SlurmctldPort={1}\n"
      "SlurmdPort={2}\n"
      "SlurmUser=root\n"
      "SlurmdUser=root\n"
      "AuthType=auth/munge\n"
      "AuthInfo=socket={0}/munge\n"
      "StateSaveLocation={0}/state\n"
      "SlurmdSpoolDir={0}/spool\n"
      // PMIx makes folders there that are named by the user, the job and the step only, and no other Slurm can start a step for
      // which one is left.
      "TmpFS={0}/tmp\n"
      "SlurmctldPidFile={0}/slurmctld.pid\n"
      "SlurmdPidFile={0}/slurmd.pid\n"
      "ProctrackType=proctrack/linuxproc\n"
      "TaskPlugin=task/none\n"
      "SelectType=select/linear\n"
      "SwitchType=switch/none\n"
      "ReturnToService=2\n"
      "NodeName=localhost NodeAddr=127.0.0.1 CPUs={3} State=UNKNOWN\n"
      "PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE\n",
      folder, free_port(), free_port(), std::thread::hardware_concurrency());
  for (const char* name : {"state", "spool", "tmp"}) std::filesystem::create_directory(folder_ / name);
  // munged requires a folder that only its user can write to.
  ::chmod(folder.c_str(), 0755);
  std::ofstream key(folder_ / "key", std::ios::binary);
  std::random_device dice;
  for (int i = 0; i < 256; ++i) key << dice();
  key.close();
  ::chmod((folder_ / "key").c_str(), 0400);
}

Slurm::Slurm() : folder_("/tmp") {
  write_files();
  const auto in = [this](const char* name) { return (folder_ / name).string(); };
  daemons_.push_back(std::make_unique<Launch>(
      std::vector<std::string>{"munged", "--foreground", "--force", "--socket=" + in("munge"),
                               "--key-file=" + in("key"), "--pid-file=" + in("munged.pid"),
                               "--log-file=" + in("munged.log"), "--seed-file=" + in("munged.seed")}));
  if (!comes_to_pass({"munge", "--no-input", "--socket=" + in("munge")})) return;
  daemons_.push_back(
      std::make_unique<Launch>(std::vector<std::string>{"slurmctld", "-D", "-i"}, variables()));
  daemons_.push_back(
      std::make_unique<Launch>(std::vector<std::string>{"slurmd", "-D", "-N", "localhost"}, variables()));
  comes_to_pass({"srun", "--immediate=1", "-n", "1", "true"});
}

Slurm::~Slurm() {
  for (; !daemons_.empty(); daemons_.pop_back()) {
    daemons_.back()->signal(SIGTERM);
    EXPECT_NE(daemons_.back()->status(), -1) << "a daemon of Slurm does not end";
  }
}

std::vector<std::string> Slurm::variables() const {
  return {"SLURM_CONF=" + (folder_ / "slurm.conf").string()};
}

bool Slurm::comes_to_pass(const std::vector<std::string>& command) {
  const auto until = std::chrono::steady_clock::now() + kBound;
  for (;;) {
    Launch attempt(command, variables());
    if (attempt.status() == 0) return true;
    if (std::chrono::steady_clock::now() > until) {
      problem_ = command.front() + ": " + attempt.err();
      ADD_FAILURE() << problem_;
      return false;
    }
  }
}

}  // namespace aqueduct::fault
