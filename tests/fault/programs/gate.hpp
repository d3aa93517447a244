#pragma once

#include <chrono>
#include <thread>

#include <unistd.h>

namespace aqueduct::fault {

/// Waits until the file is there, with which a test says that it has read what this program has printed: launchers may
/// lose output from just before the end of a job. False: the file does not come. Null: there is nothing to wait for.
inline bool gate_opens(const char* file) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (file != nullptr && ::access(file, F_OK) != 0) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace aqueduct::fault
