#pragma once

#include <gtest/gtest.h>

#include <functional>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::support {

/// Runs `body` in a forked child. Returns its result, 0 or the number of the check that failed, or
/// 128 + signal if the child was killed, for example after `seconds`. The child ends without
/// destructors, and sees the parent's memory.
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
