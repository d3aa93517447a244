#include "core/descriptors.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace aqueduct::core {
namespace {

using support::in_a_child;

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1; }

TEST(AboveStandard, MovesOnlyWhatIsBelowThree) {
  EXPECT_EQ(in_a_child([] {
              const int high = ::open("/", O_PATH | O_CLOEXEC);
              if (above_standard(high) != high) return 1;
              ::close(1);
              const int low = ::open("/", O_PATH | O_CLOEXEC);
              if (low != 1) return 2;
              const int moved = above_standard(low);
              if (moved < 3 || is_open(1) || (::fcntl(moved, F_GETFD) & FD_CLOEXEC) == 0) return 3;
              return 0;
            }),
            0);
}

TEST(AboveStandard, PassesAFailureOnWithItsReason) {
  errno = ENOENT;
  EXPECT_EQ(above_standard(-1), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(in_a_child([] {
              ::close(0);
              const rlimit limit{3, 3};
              if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
              const int low = ::open("/", O_PATH | O_CLOEXEC);
              if (low != 0 || above_standard(low) != -1) return 2;
              return errno == EINVAL && !is_open(0) ? 0 : 3;  // fcntl(2): no number from 3 on is allowed
            }),
            0);
}

TEST(StandardPlaces, AreTakenWhereTheyWereFreeAndGivenBack) {
  EXPECT_EQ(in_a_child([] {
              ::close(0);
              ::close(2);
              {
                const StandardPlaces places;
                if (!is_open(0) || !is_open(2)) return 1;
                if ((::fcntl(0, F_GETFD) & FD_CLOEXEC) == 0) return 2;
                if (::write(2, "x", 1) != -1 || errno != EBADF) return 3;  // as if it were closed
                const int next = ::open("/", O_PATH | O_CLOEXEC);
                if (next < 3) return 4;
              }
              return is_open(0) || !is_open(1) || is_open(2) ? 5 : 0;
            }),
            0);
}

TEST(StandardPlaces, LeaveWhatTheProgramPutThere) {
  EXPECT_EQ(in_a_child([] {
              ::close(1);
              {
                const StandardPlaces places;
                const int own = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
                if (own < 3 || ::dup2(own, 1) != 1) return 1;
              }
              return ::write(1, "x", 1) == 1 ? 0 : 2;
            }),
            0);
}

TEST(NoDescriptor, NamesTheLimit) {
  EXPECT_NE(no_descriptor(EMFILE).find("(ulimit -n "), std::string::npos);
  EXPECT_NE(no_descriptor(ENFILE).find("fs.file-max"), std::string::npos);
  EXPECT_EQ(no_descriptor(ENOENT), "No such file or directory");
}

}  // namespace
}  // namespace aqueduct::core
