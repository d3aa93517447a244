// A rank that is an MPI program too, under mpiexec.hydra: an MPI library speaks with the manager over PMI_FD after the
// job has finished. This program plays that library, by the name of one of its functions.
//
// fault_beside_mpi uses     finalizes as MPI would, and says whether the manager has answered
// fault_beside_mpi unused   has MPI, but does not use it

#include <aqueduct/aqueduct.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include <poll.h>
#include <unistd.h>

extern "C" int MPI_Finalized(int* flag) {
  *flag = 0;
  return 0;
}

int main(int argc, char** argv) {
  auto job = aqueduct::Job::start();
  if (!job) return 1;
  const bool passed = job->endpoint().barrier().ok();
  if (!passed || !job->finish()) return 1;
  if (argc > 1 && argv[1] == std::string_view("uses")) {
    const int manager = std::atoi(std::getenv("PMI_FD"));
    constexpr std::string_view kEnd = "cmd=finalize\n";
    std::string answer(200, '\0');
    if (::write(manager, kEnd.data(), kEnd.size()) != static_cast<ssize_t>(kEnd.size())) return 3;
    pollfd answered{manager, POLLIN, 0};
    if (::poll(&answered, 1, 10'000) != 1) return 5;
    const ssize_t got = ::read(manager, answer.data(), answer.size());
    if (got <= 0 || answer.find("finalize_ack") == std::string::npos) return 4;
    ::close(manager);
  }
  fmt::print("ended beside MPI: {}\n", argc > 1 ? argv[1] : "");
  return 0;
}
