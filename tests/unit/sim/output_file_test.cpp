#include "sim/output_file.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqueduct::sim {
namespace {

std::string content_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}
void fill(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

/// Files may have so many bytes, as if the disk were full.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit less{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &less);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(OutputFile, TakesThePlaceOfTheOldOneWhenItIsWhole) {
  const support::ScratchFolder folder;
  const std::string name = folder / "page.html";
  fill(name, "old");
  ::chmod(name.c_str(), 0640);
  OutputFile file(name);
  file.open();
  file.write("new");
  EXPECT_EQ(content_of(name), "old");
  EXPECT_EQ(folder.files(), 1u) << "what is written has no name that a killed program would leave";
  file.write("er");
  EXPECT_EQ(file.finish(), "");
  EXPECT_EQ(content_of(name), "newer");
  EXPECT_EQ(std::filesystem::status(name).permissions(), std::filesystem::perms(0640));
  EXPECT_EQ(folder.files(), 1u);
}

TEST(OutputFile, LeavesTheOldOneIfThereIsNoRoom) {
  const support::ScratchFolder folder;
  const std::string name = folder / "page.html";
  for (const std::string old : {"", "old"}) {
    if (!old.empty()) fill(name, old);
    OutputFile file(name);
    std::string problem;
    {
      const SmallDisk small(4096);
      file.open();
      for (int i = 0; i < 1000; ++i) file.write(std::string(100, 'x'));
      problem = file.finish();
    }
    EXPECT_NE(problem, "");
    EXPECT_EQ(content_of(name), old);
    EXPECT_EQ(folder.files(), old.empty() ? 0u : 1u);
  }
}

TEST(OutputFile, LeavesTheOldOneIfItIsNotFinished) {
  const support::ScratchFolder folder;
  const std::string name = folder / "page.html";
  fill(name, "old");
  {
    OutputFile file(name);
    file.open();
    file.write("new");
  }
  EXPECT_EQ(content_of(name), "old");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(OutputFile, KeepsLinksAndPipes) {
  const support::ScratchFolder folder;
  const std::string link = folder / "link";
  for (const bool exists : {false, true}) {
    std::filesystem::remove(link);
    const std::string target = folder / (exists ? "there" : "not yet");
    if (exists) fill(target, "old");
    std::filesystem::create_symlink(target, link);
    OutputFile file(link);
    file.open();
    file.write("new");
    EXPECT_EQ(file.finish(), "");
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(content_of(target), "new");
  }
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  OutputFile file(pipe);
  file.open();
  file.write("told");
  EXPECT_EQ(file.finish(), "");
  std::array<char, 8> text{};
  EXPECT_EQ(::read(reader, text.data(), text.size()), 4);
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(OutputFile, SaysWhyItCannotBeWritten) {
  const support::ScratchFolder folder;
  OutputFile file(folder / "none/page.html");
  file.open();
  file.write("new");
  EXPECT_EQ(file.finish(), "No such file or directory");
  OutputFile of_folder(folder.path());
  of_folder.open();
  EXPECT_EQ(of_folder.finish(), "Is a directory");
}

}  // namespace
}  // namespace aqueduct::sim
