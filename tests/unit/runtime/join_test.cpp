#include <aqueduct/aqueduct.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace aqueduct {
namespace {

/// Sets an environment variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Join, LeavesTheNumberOfALaunchersSocketAloneAfterAFailure) {
  int launcher[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, launcher), 0);
  const int number = launcher[1];
  const Variable descriptor("PMI_FD", std::to_string(number));
  const Variable rank("PMI_RANK", "0");
  const Variable size("PMI_SIZE", "2");
  constexpr std::string_view kRefusal = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n";
  ASSERT_EQ(::write(launcher[0], kRefusal.data(), kRefusal.size()), static_cast<ssize_t>(kRefusal.size()));
  EXPECT_EQ(Job::start().status().code(), ErrorCode::bootstrap_failed);
  ::close(launcher[0]);

  int own[2];  // the program's own; the second one gets the descriptor number that has become free
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, own), 0);
  if (own[0] == number) std::swap(own[0], own[1]);
  if (own[1] != number) {
    ASSERT_EQ(::dup2(own[1], number), number);
    ::close(own[1]);
  }
  EXPECT_EQ(Job::start().status().code(), ErrorCode::bootstrap_failed);
  char word = 0;
  EXPECT_EQ(::recv(own[0], &word, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_NE(::fcntl(number, F_GETFD), -1);
  ::close(own[0]);
  ::close(number);
}

}  // namespace
}  // namespace aqueduct
