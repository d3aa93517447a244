#pragma once

#include "tests/fault/launch.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include <sys/types.h>

namespace aqueduct::fault {

using Words = std::vector<std::string>;

inline Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The program fault_exchange in steps: what to start, whether it goes on, and its end.
class Exchange {
 public:
  Words command(const Words& more = {}) const {
    return joined({program("fault_exchange"), (folder_ / "end").string()}, more);
  }
  /// Waits until it has reported its progress `words` more times.
  static bool goes_on(Launch& job, std::size_t words = 5) {
    return job.says("rounds ", job.lines("rounds ").size() + words);
  }
  void end() const { std::ofstream(folder_ / "end") << "now\n"; }
  /// Ends it, and expects that none of its ranks found an error.
  void expect_right_end(Launch& job, std::size_t ranks) const {
    expect_right_results(job, ranks);
    EXPECT_EQ(job.err(), "");
  }
  /// As expect_right_end, but the log may have said something.
  void expect_right_results(Launch& job, std::size_t ranks) const {
    end();
    EXPECT_EQ(job.status(), 0) << job.out() << job.err();
    EXPECT_EQ(job.lines("wrong 0").size(), ranks) << job.out();
  }

 private:
  const support::ScratchFolder folder_;
};

/// The process id of one of its ranks; -1 if the rank has not printed it in time.
inline pid_t pid_of(Launch& job, unsigned rank) {
  const std::string begin = "pid " + std::to_string(rank) + " is ";
  if (!job.says(begin)) return -1;
  return std::stoi(job.lines(begin).front().substr(begin.size()));
}

}  // namespace aqueduct::fault
