#include "bootstrap/pmi1.hpp"
#include "bootstrap/pmi1_wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace aqueduct::bootstrap {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Blob = std::vector<std::byte>;

Blob random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 dice(seed);
  Blob bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice());
  return bytes;
}

TEST(Pmi1Line, IsTakenApartByNames) {
  const pmi1::Line line("cmd=get_result rc=0 msg=success value=a=b.c");
  EXPECT_EQ(line.field("cmd"), "get_result");
  EXPECT_EQ(line.number("rc"), 0u);
  EXPECT_EQ(line.field("value"), "a=b.c");
  EXPECT_EQ(line.field("lue"), std::nullopt);
  EXPECT_EQ(line.number("msg"), std::nullopt);
  EXPECT_EQ(pmi1::Line("").field("cmd"), std::nullopt);
}

TEST(Pmi1Letters, CarryAnyBytesAndRefuseOthers) {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 4u, 255u, 1000u}) {
    const Blob bytes = random_bytes(count, 7);
    const std::string letters = pmi1::to_letters(bytes);
    EXPECT_EQ(letters.find_first_of(" =\n;+/"), std::string::npos) << letters;
    EXPECT_EQ(pmi1::from_letters(letters), bytes) << count;
  }
  for (const char* wrong : {"a", "ab=", "a b", "ab\n"}) {
    EXPECT_EQ(pmi1::from_letters(wrong), std::nullopt) << wrong;
  }
}

TEST(Pmi1Mapping, TellsTheNodeOfAProcess) {
  const char* const two_by_two = "(vector,(0,2,2))";
  EXPECT_EQ(pmi1::node_of(two_by_two, 1), 0u);
  EXPECT_EQ(pmi1::node_of(two_by_two, 2), 1u);
  EXPECT_EQ(pmi1::node_of(two_by_two, 5), 0u);  // the mapping repeats
  EXPECT_EQ(pmi1::node_of("(vector,(0,1,1))", 7), 0u);
  EXPECT_EQ(pmi1::node_of("(vector,(0,1,3),(4,2,1))", 2), 0u);
  EXPECT_EQ(pmi1::node_of("(vector,(0,1,3),(4,2,1))", 4), 5u);
  for (const char* wrong :
       {"", "unknown", "(vector,", "(vector)", "(vector,())", "(vector,(0,1))", "(vector,(0,1,1)",
        "(vector,(0,0,0))", "(vector,(0,1,x))", "(vector,(99999999999,1,1))"}) {
    EXPECT_EQ(pmi1::node_of(wrong, 0), std::nullopt) << wrong;
  }
}

/// A manager on threads, which answers each process's lines as mpiexec.hydra does, until the process closes.
class Pmi1Manager {
 public:
  explicit Pmi1Manager(std::uint32_t processes, std::size_t most_value = 1024) : most_value_(most_value) {
    for (std::uint32_t i = 0; i < processes; ++i) {
      int ends[2];
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
      mine_.push_back({ends[0], {}, true});
      theirs_.push_back(ends[1]);
    }
  }
  ~Pmi1Manager() {
    for (const Peer& peer : mine_) ::close(peer.descriptor);
  }
  Pmi1Manager(const Pmi1Manager&) = delete;
  Pmi1Manager& operator=(const Pmi1Manager&) = delete;

  Pmi1Place place(std::uint32_t i) const {
    return {theirs_[i], i, static_cast<std::uint32_t>(theirs_.size())};
  }
  void serve() {
    while (std::any_of(mine_.begin(), mine_.end(), [](const Peer& peer) { return peer.open; })) {
      std::vector<pollfd> events;
      for (const Peer& peer : mine_) events.push_back({peer.open ? peer.descriptor : -1, POLLIN, 0});
      ASSERT_GT(::poll(events.data(), events.size(), 20000), 0) << "nobody says anything";
      for (std::size_t i = 0; i < mine_.size(); ++i) {
        if (events[i].revents != 0) receive(mine_[i]);
      }
    }
  }
  std::size_t longest() const { return longest_; }
  std::size_t longest_line() const { return longest_line_; }
  std::size_t finalized() const { return finalized_; }
  const std::string& aborted() const { return aborted_; }

 private:
  struct Peer {
    int descriptor;
    std::string arrived;
    bool open;
  };
  void receive(Peer& peer) {
    char piece[4096];
    const auto got = ::read(peer.descriptor, piece, sizeof piece);
    if (got <= 0) {
      peer.open = false;
      return;
    }
    peer.arrived.append(piece, static_cast<std::size_t>(got));
    for (auto end = peer.arrived.find('\n'); end != std::string::npos; end = peer.arrived.find('\n')) {
      const std::string line = peer.arrived.substr(0, end);
      longest_line_ = std::max(longest_line_, line.size() + 1);
      peer.arrived.erase(0, end + 1);
      answer(peer, pmi1::Line(line));
    }
  }
  void answer(Peer& peer, const pmi1::Line& line) {
    const std::string_view what = line.field("cmd").value_or("");
    const std::string key(line.field("key").value_or(""));
    if (what == "init") say(peer, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
    if (what == "get_maxes")
      say(peer, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=" + std::to_string(most_value_));
    if (what == "get_my_kvsname") say(peer, "cmd=my_kvsname kvsname=space");
    if (what == "finalize") say(peer, "cmd=finalize_ack");
    if (what == "finalize") ++finalized_;
    if (what == "abort") aborted_ = line.text();
    if (what == "put") {
      const std::string value(line.field("value").value_or(""));
      longest_ = std::max(longest_, value.size());
      EXPECT_LT(key.size(), 64u) << key;
      values_[key] = value;
      say(peer, "cmd=put_result rc=0 msg=success");
    }
    if (what == "get") {
      const bool known = values_.contains(key);
      say(peer, known ? "cmd=get_result rc=0 msg=success value=" + values_[key]
                      : "cmd=get_result rc=-1 msg=not_found value=unknown");
    }
    if (what == "barrier_in" && ++waiting_ == mine_.size()) {
      waiting_ = 0;
      for (Peer& each : mine_) say(each, "cmd=barrier_out");
    }
  }
  static void say(Peer& peer, const std::string& line) {
    const std::string whole = line + "\n";
    EXPECT_EQ(::write(peer.descriptor, whole.data(), whole.size()), static_cast<ssize_t>(whole.size()));
  }

  const std::size_t most_value_;
  std::vector<Peer> mine_;
  std::vector<int> theirs_;
  std::map<std::string, std::string> values_;
  std::size_t waiting_ = 0, longest_ = 0, longest_line_ = 0, finalized_ = 0;
  std::string aborted_;
};

class Pmi1Values : public testing::TestWithParam<std::size_t> {};

TEST_P(Pmi1Values, OfAnySizeAreExchangedInPiecesThatTheManagerTakes) {
  constexpr std::uint32_t kProcesses = 3;
  Pmi1Manager manager(kProcesses, GetParam());
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    threads.emplace_back([&, i] {
      auto me = from_pmi1(manager.place(i), 20s, [](std::string_view why) { ADD_FAILURE() << why; });
      ASSERT_TRUE(me);
      EXPECT_EQ((*me)->process(), i);
      EXPECT_EQ((*me)->processes(), kProcesses);
      for (const std::size_t bytes : {0u, 1u, 700u, 749u, 750u, 751u, 1000u, 20000u}) {
        const auto all = (*me)->exchange(random_bytes(bytes + i, i));
        ASSERT_TRUE(all);
        for (std::uint32_t p = 0; p < kProcesses; ++p)
          EXPECT_EQ((*all)[p], random_bytes(bytes + p, p)) << bytes;
      }
      (*me)->leave();
    });
  }
  manager.serve();
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(manager.longest(), GetParam());  // including the terminating zero
  EXPECT_LE(manager.longest_line(), 1024u) << "Slurm's and MPICH's buffers";
  EXPECT_EQ(manager.finalized(), kProcesses);
}
INSTANTIATE_TEST_SUITE_P(Limits, Pmi1Values, testing::Values(100, 256, 1000, 1024, 4096));

/// A manager that answers successive lines with these, then does what `end` says.
struct Script {
  std::vector<std::string> answers;
  bool closes = false;
};

/// Joins and exchanges; returns the error code and the reports.
std::pair<ErrorCode, std::string> outcome(const Script& script, std::chrono::milliseconds timeout = 20s) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  for (const std::string& line : script.answers) {
    EXPECT_EQ(::write(ends[0], line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  if (script.closes) ::shutdown(ends[0], SHUT_WR);
  std::string why;
  auto me = from_pmi1({ends[1], 0, 2}, timeout, [&](std::string_view text) { why = text; });
  ErrorCode code = me.status().code();
  if (me) code = (*me)->exchange(Blob(3)).status().code();
  ::close(ends[0]);
  return {code, why};
}

const std::vector<std::string> kGreeting{"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
                                         "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
                                         "cmd=my_kvsname kvsname=space\n",
                                         "cmd=get_result rc=-1 msg=no value=unknown\n"};

std::vector<std::string> after_greeting(std::vector<std::string> more) {
  more.insert(more.begin(), kGreeting.begin(), kGreeting.end());
  return more;
}

TEST(Pmi1Trouble, SaysWhatIsWrongAndWhatToDo) {
  const auto [closed, why_closed] = outcome({{}, true});
  EXPECT_EQ(closed, ErrorCode::bootstrap_failed);
  EXPECT_THAT(why_closed, HasSubstr("launcher of this job has ended"));

  const auto [late, why_late] = outcome({kGreeting, false}, 50ms);
  EXPECT_EQ(late, ErrorCode::timed_out);
  EXPECT_THAT(why_late, HasSubstr("AQUEDUCT_BOOTSTRAP_TIMEOUT"));

  const auto [other, why_other] = outcome({{"    38cmd=fullinit-response;pmi-version=2;rc=0;\n"}, false});
  EXPECT_EQ(other, ErrorCode::bootstrap_failed);
  EXPECT_THAT(why_other, HasSubstr("does not speak PMI-1"));

  const auto [refused, why_refused] = outcome({after_greeting({"cmd=put_result rc=-1 msg=full\n"}), false});
  EXPECT_EQ(refused, ErrorCode::bootstrap_failed);
  EXPECT_THAT(why_refused, HasSubstr("refuses"));

  const auto [garbled, why_garbled] = outcome(
      {after_greeting({"cmd=put_result rc=0\n", "cmd=barrier_out\n", "cmd=get_result rc=0 value=0.AAAA\n"}),
       false});
  EXPECT_EQ(garbled, ErrorCode::bootstrap_failed);
  EXPECT_THAT(why_garbled, HasSubstr("cannot be read"));

  const auto [endless, why_endless] = outcome({{std::string(70000, 'x')}, false});
  EXPECT_EQ(endless, ErrorCode::bootstrap_failed);
}

TEST(Pmi1Trouble, ADescriptorThatIsNoSocketIsToldFromALauncher) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::string why;
  const auto me = from_pmi1({ends[0], 0, 1}, 1s, [&](std::string_view text) { why = text; });
  EXPECT_EQ(me.status().code(), ErrorCode::bootstrap_failed);
  EXPECT_THAT(why, HasSubstr("AQUEDUCT_LAUNCHER=alone"));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Pmi1, TakesAManagerThatIsGoneForTheLossOfAllOthers) {
  std::vector<std::uint32_t> lost;
  std::string why;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  for (const std::string& line : kGreeting) ASSERT_GT(::write(ends[0], line.data(), line.size()), 0);
  auto me = from_pmi1({ends[1], 1, 3}, 20s, [&](std::string_view text) { why = text; });
  ASSERT_TRUE(me);
  const auto note = [&](std::uint32_t process) { lost.push_back(process); };
  (*me)->poll_losses(note);
  EXPECT_EQ(lost.size(), 0u);
  ::close(ends[0]);
  (*me)->poll_losses(note);
  (*me)->poll_losses(note);
  EXPECT_THAT(lost, testing::ElementsAre(0, 2));
  EXPECT_THAT(why, HasSubstr("launcher of this job has ended"));
}

TEST(Pmi1, AsksTheManagerToEndTheJob) {
  Pmi1Manager manager(1);
  std::thread process([&] {
    const auto me = from_pmi1(manager.place(0), 20s, {});
    ASSERT_TRUE(me);
    (*me)->abort(7, "no more water\n");
  });
  manager.serve();
  process.join();
  EXPECT_EQ(manager.aborted(), "cmd=abort exitcode=7 message=no_more_water_");
}

// Managers cut longer lines in two.
TEST(Pmi1, KeepsToTheLengthOfALineHoweverLongTheReasonIs) {
  Pmi1Manager manager(1, 4096);
  std::thread process([&] {
    const auto me = from_pmi1(manager.place(0), 20s, {});
    ASSERT_TRUE(me);
    (*me)->abort(-7, std::string(3000, 'w') + "\r\t");
  });
  manager.serve();
  process.join();
  EXPECT_THAT(manager.aborted(), testing::StartsWith("cmd=abort exitcode=-7 message=www"));
  EXPECT_LE(manager.longest_line(), 1000u);
}

// Otherwise the others would learn of the loss of this process, before the manager ends them.
TEST(Pmi1, WaitsBeforeAnExitUntilTheManagerEndsTheJob) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  for (const std::string& line : kGreeting) ASSERT_GT(::write(ends[0], line.data(), line.size()), 0);
  auto me = from_pmi1({ends[1], 1, 3}, 20s, {});
  ASSERT_TRUE(me);
  std::thread process([&] { (*me)->exit(7); });
  std::string said;
  for (char piece[4096]; said.find("cmd=abort exitcode=7") == std::string::npos;) {
    const auto got = ::read(ends[0], piece, sizeof piece);
    ASSERT_GT(got, 0);
    said.append(piece, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  process.join();
}

TEST(Pmi1, WaitsForTheEndOfTheManagersConnection) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const pmi1::Connection connection(ends[1]);
  std::atomic<bool> closes{false};
  std::thread waits([&] {
    connection.wait_until_closed(std::chrono::steady_clock::now() + 20s);
    EXPECT_TRUE(closes);
  });
  ASSERT_EQ(::write(ends[0], "news\n", 5), 5);  // that is not the end
  closes = true;
  ::close(ends[0]);
  waits.join();
}

}  // namespace
}  // namespace aqueduct::bootstrap
