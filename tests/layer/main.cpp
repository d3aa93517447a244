// A small layer over the public headers, such as OpenSHMEM's would be, and a program that checks itself with it: a
// symmetric heap, contexts, locks, collectives by hand, active sets, raw messages. It is linked as a user's program is.
//
//   layer [--threads] [--rounds N] [--part NAME] [--times] [--leave CODE]
//
// Prints one line at rank 0 if everything was right. The first wrong answer is printed, and ends the job with
// Report::kWrong.

#include "tests/layer/parts.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace aqueduct::layer {
namespace {

struct Part {
  const char* name;
  void (*run)(Pe&);
};
constexpr Part kParts[] = {{"puts and gets", puts_and_gets},
                           {"strided", strided},
                           {"addresses", addresses},
                           {"waiting", waiting},
                           {"signals", signals},
                           {"order", order},
                           {"locks", locks},
                           {"atomics", atomics},
                           {"contexts", contexts},
                           {"events", events},
                           {"collectives", collectives},
                           {"barriers", barriers},
                           {"messages", messages},
                           {"threads", threads}};

struct Options {
  bool threads = false;
  bool times = false;
  unsigned rounds = 1;
  std::string part;  // empty: all of them
  int leave = -1;    // the exit status; -1: end in good order
};

[[noreturn]] void usage() {
  std::fprintf(stderr, "usage: layer [--threads] [--rounds N] [--part NAME] [--times] [--leave CODE]\n");
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--threads") {
      options.threads = true;
    } else if (word == "--times") {
      options.times = true;
    } else if (word == "--rounds" && has_value) {
      options.rounds = static_cast<unsigned>(std::atoi(argv[++i]));
    } else if (word == "--part" && has_value) {
      options.part = argv[++i];
    } else if (word == "--leave" && has_value) {
      options.leave = std::atoi(argv[++i]);
    } else {
      usage();
    }
  }
  return options;
}

void run(Pe& pe, const Options& options) {
  unsigned parts = 0;
  for (unsigned round = 0; round < options.rounds; ++round) {
    for (const Part& part : kParts) {
      if (!options.part.empty() && options.part != part.name) continue;
      const auto start = std::chrono::steady_clock::now();
      pe.report.begin(part.name);
      part.run(pe);
      pe.barrier();
      pe.heap.clear();
      pe.barrier();
      ++parts;
      if (options.times && pe.me() == 0) {
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        std::printf("layer: %-14s %8.1f ms\n", part.name, took.count());
      }
    }
  }
  if (parts == 0) pe.report.wrong("there is no part \"" + options.part + "\"");
  if (pe.me() == 0) std::printf("layer: %u ranks, %u parts are right\n", pe.ranks(), parts);
}

int run_job(const Options& options) {
  Config config = Config::from_environment();
  if (options.threads && !config.set(Threads::multiple)) return 2;
  auto job = Job::start(config);
  if (!job) {
    std::fprintf(stderr, "layer: start: %s\n", job.status().text().c_str());
    return job.status().exit_code();
  }
  job->run_each([&](Endpoint& ep) {
    Pe pe(*job, ep);
    run(pe, options);
    if (options.leave >= 0) leave(pe, options.leave);
  });
  const Status end = job->finish();
  if (!end) std::fprintf(stderr, "layer: finish: %s\n", end.text().c_str());
  return end.exit_code();
}

}  // namespace
}  // namespace aqueduct::layer

int main(int argc, char** argv) { return aqueduct::layer::run_job(aqueduct::layer::parse(argc, argv)); }
