#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace aqueduct::support {

/// An empty folder for a test, removed with all its contents when the test ends.
class ScratchFolder {
 public:
  /// By default on the file system of shared memory, so that a program told to use it does not see other jobs' files.
  explicit ScratchFolder(const std::string& parent = "/dev/shm") : path_(parent + "/aqueduct-test-XXXXXX") {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr) << path_;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const {
    return std::filesystem::path(path_) / name;
  }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(path_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

 private:
  std::string path_;
};

}  // namespace aqueduct::support
