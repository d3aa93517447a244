#include "conduits/smp/cma.hpp"
#include "conduits/smp/smp_network.hpp"
#include "conduits/smp/tests/party.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

using Kind = core::Post::Kind;

/// A forked copy of this process. A key of this process is also valid for the copy, except for the pid.
class Twin {
 public:
  /// The twin calls `obey` with each byte from `tell`, which returns the result.
  template <class Obey>
  explicit Twin(const Obey& obey) {
    int down[2];
    int up[2];
    EXPECT_EQ(::pipe2(down, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(up, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(down[1]);
      for (char word = 0; ::read(down[0], &word, 1) == 1;) {
        word = obey(word);
        if (::write(up[1], &word, 1) != 1) break;
      }
      ::_exit(0);
    }
    ::close(down[0]);
    ::close(up[1]);
    down_ = down[1];
    up_ = up[0];
  }
  ~Twin() { end(); }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  pid_t pid() const noexcept { return pid_; }
  int tell(char word) {
    EXPECT_EQ(::write(down_, &word, 1), 1);
    EXPECT_EQ(::read(up_, &word, 1), 1);
    return word;
  }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(down_);
    ::close(up_);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  int down_ = -1;
  int up_ = -1;
};

void outlast_trust() {
  const auto until = std::chrono::steady_clock::now() + Cma::kTrust;
  while (std::chrono::steady_clock::now() <= until) std::this_thread::yield();
}

/// Ignores all calls.
class Unattached final : public Attachments {
 public:
  void attached(SegmentId, core::MutableBytes) noexcept override {}
  void detached(SegmentId) noexcept override {}
};

class CmaOfATwin : public testing::Test {
 protected:
  void SetUp() override {
    auto key = cma_.register_segment(0, memory_);
    ASSERT_TRUE(key);
    Cma::Key of_twin;
    ASSERT_EQ(key->size(), sizeof of_twin);
    std::memcpy(&of_twin, key->data(), sizeof of_twin);
    of_twin.pid = twin_.pid();
    std::memcpy(key->data(), &of_twin, sizeof of_twin);
    auto handle = cma_.import_key(1, *key);
    if (handle.status().code() == ErrorCode::not_supported)
      GTEST_SKIP() << "cross-memory calls are forbidden here";
    ASSERT_TRUE(handle);
    handle_ = *handle;
  }
  core::Post put(int value) {
    const std::byte from{static_cast<unsigned char>(value)};
    return cma_.put(1, handle_, 8, {&from, 1}, false, 0);
  }

  TestProcess test_;
  SmpNetwork network_{test_.process};
  Unattached attachments_;
  Cma cma_{network_, attachments_};
  std::vector<std::byte> memory_ = std::vector<std::byte>(64);
  // 'm' changes the twin's mark, as if it were another process. Every answer is the byte to which the tests put.
  Twin twin_{[this](char word) {
    if (word == 'm') const_cast<std::uint64_t&>(network_.mark()) ^= 1;
    return static_cast<char>(memory_[8]);
  }};
  std::uint64_t handle_ = 0;
};

TEST_F(CmaOfATwin, WritesWhereThePeersMarkIs) {
  EXPECT_EQ(put(7).kind, Kind::done);
  EXPECT_EQ(twin_.tell('?'), 7);
  outlast_trust();
  EXPECT_EQ(put(8).kind, Kind::done);
  EXPECT_EQ(twin_.tell('?'), 8);
}

// A process that has the pid of a dead peer: nothing is written into it.
TEST_F(CmaOfATwin, LeavesAProcessAloneThatOnlyHasThePeersNumber) {
  ASSERT_EQ(put(7).kind, Kind::done);
  EXPECT_EQ(twin_.tell('m'), 7);
  outlast_trust();
  const core::Post post = put(9);
  EXPECT_EQ(post.kind, Kind::failed);
  EXPECT_EQ(post.why, ErrorCode::peer_lost);
  std::byte to{};
  EXPECT_EQ(cma_.get(1, handle_, 8, {&to, 1}, 0).why, ErrorCode::peer_lost);
  EXPECT_EQ(twin_.tell('?'), 7);
}

TEST_F(CmaOfATwin, OfAPeerThatIsGoneIsPeerLost) {
  ASSERT_EQ(put(7).kind, Kind::done);
  twin_.end();
  EXPECT_EQ(put(9).why, ErrorCode::peer_lost);
  outlast_trust();
  EXPECT_EQ(put(9).why, ErrorCode::peer_lost);
}

// A process of another user that has the pid of a dead peer may not be read. The system refuses the call in the same
// way for a process that is not dumpable, which the twin becomes here.
TEST(Cma, OfAProcessThatMayNoLongerBeReadIsPeerLost) {
  const int result = support::in_a_child([] {
    // Root may read every process.
    if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 1;
    ::prctl(PR_SET_DUMPABLE, 1);  // setuid has taken it away
    TestProcess test;
    SmpNetwork network(test.process);
    Unattached attachments;
    Cma cma(network, attachments);
    std::vector<std::byte> memory(64);
    auto key = cma.register_segment(0, memory);
    if (!key) return 2;
    Twin twin([](char word) {
      ::prctl(PR_SET_DUMPABLE, 0);
      return word;
    });
    Cma::Key of_twin;
    std::memcpy(&of_twin, key->data(), sizeof of_twin);
    of_twin.pid = twin.pid();
    std::memcpy(key->data(), &of_twin, sizeof of_twin);
    const auto handle = cma.import_key(1, *key);
    if (handle.status().code() == ErrorCode::not_supported) return 77;
    const std::byte from{7};
    if (!handle || cma.put(1, *handle, 8, {&from, 1}, false, 0).kind != Kind::done) return 3;
    twin.tell('x');
    outlast_trust();
    const core::Post post = cma.put(1, *handle, 8, {&from, 1}, false, 0);
    return post.kind == Kind::failed && post.why == ErrorCode::peer_lost ? 0 : 4;
  });
  // As in some containers (Yama, seccomp); the conduit then uses packets.
  if (result == 77) GTEST_SKIP() << "cross-memory calls are forbidden here";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace aqueduct::conduits::smp
