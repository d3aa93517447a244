#pragma once

#include <gtest/gtest.h>

#include <functional>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::support {

/// What `body` returns in a forked child: 0, or the number of the check that failed. The child has `seconds`; 128 + signal
/// if it is killed. It ends without destructors, and sees what the parent had.
inline int in_a_child(const std::function<int()>& body, unsigned seconds = 20) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(seconds);
    ::_exit(body());
  }
  EXPECT_GT(child, 0);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace aqueduct::support
