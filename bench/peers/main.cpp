// One rank of one library, which runs the loops that the judge (bench/peers/judge.py) asks for. Compiled once per
// library: PEERS_LAYER is the header with that library's layer.

#include "bench/peers/control.hpp"
#include "bench/peers/loops.hpp"

#include PEERS_LAYER

#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using namespace peers;

/// Binds each rank to a core of its own if there are enough, whatever the launcher does: the same for all libraries.
void bind(int rank, int ranks) {
  const unsigned cores = std::thread::hardware_concurrency();
  cpu_set_t set;
  CPU_ZERO(&set);
  if (static_cast<unsigned>(ranks) <= cores) {
    CPU_SET(static_cast<unsigned>(rank), &set);
  } else {
    for (unsigned core = 0; core < cores; ++core) CPU_SET(core, &set);
  }
  sched_setaffinity(0, sizeof set, &set);
}

/// This process's memory; shared pages are divided among the processes that share them. Units: KiB.
double memory() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Pss:")) return std::stod(line.substr(4));
  }
  return 0;
}

std::string run(Loops<ThisLayer>& loops, std::istringstream words) {
  Work work;
  words >> work.loop >> work.bytes >> work.piece >> work.batch >> work.samples >> work.verify;
  if (!words) fail("the judge said something that is no work");
  const Answer answer = loops.run(work);
  std::ostringstream line;
  line << answer.processor;
  for (const double sample : answer.samples) line << ' ' << sample;
  return line.str();
}

void serve(ThisLayer& layer, Control& control) {
  Loops<ThisLayer> loops(layer);
  control.say(std::to_string(layer.rank()) + " " + std::to_string(layer.ranks()) + " " +
              std::to_string(memory()) + " " + layer.version());
  for (std::string line; control.hear(line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "end") break;
    control.say(what == "memory" ? std::to_string(memory()) : run(loops, std::move(words)));
  }
}

}  // namespace

/// With a path, connects to the judge there. Without one it only starts and ends, and the judge takes the time.
int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // or ranks would outlive their launcher, spinning
  ThisLayer layer(argc, argv);
  if (argc > 1) {
    Control control(argv[argc - 1]);
    bind(layer.rank(), layer.ranks());
    serve(layer, control);
  }
  layer.finish();
  return 0;
}
