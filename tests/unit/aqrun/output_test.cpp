#include "tools/aqrun/output.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace aqrun {
namespace {

/// Forwards what ranks have written. A bounded number of rounds is enough, because each one makes progress.
void serve(Output& output) {
  for (int turn = 0; turn < 1000 && !output.finished(); ++turn) output.serve();
}

void write_and_close(int descriptor, const std::string& text) {
  EXPECT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(descriptor);
}

TEST(Output, BringsOnWhatWasWritten) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  {
    Output output(ends[1]);
    write_and_close(output.add("a "), "one\ntwo");
    serve(output);
    EXPECT_EQ(output.failure(), 0);
  }
  char text[64];
  const auto got = ::read(ends[0], text, sizeof text);
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(got)), "a one\na two\n");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Output, ToAFullDiskSaysSo) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  Output output(full);
  write_and_close(output.add(""), "lost");
  serve(output);
  EXPECT_EQ(output.failure(), ENOSPC);
  EXPECT_TRUE(output.is_broken());
  ::close(full);
}

TEST(Output, ThatNobodyReadsSaysSo) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  Output output(ends[1]);
  write_and_close(output.add(""), "lost");
  serve(output);
  EXPECT_EQ(output.failure(), EPIPE);
  ::close(ends[1]);
}

}  // namespace
}  // namespace aqrun
