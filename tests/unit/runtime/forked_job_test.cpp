// The program forks a child while it has a job: the child gets errors, and the job is not affected.

#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace aqueduct {
namespace {

using support::in_a_child;

struct Variant {
  const char* name;
  std::vector<std::pair<const char*, const char*>> settings;
};
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

class ForkedJob : public testing::TestWithParam<Variant> {
 protected:
  static Config config() {
    Config made = Config::from_variables({});
    static_cast<void>(made.set("segment_bytes", "64K"));
    for (const auto& [name, value] : GetParam().settings) static_cast<void>(made.set(name, value));
    return made;
  }
  /// Lets two ranks use several operations and check that the other one lives.
  static void use(Job& job) {
    job.run_each([](Endpoint& me) {
      const Rank other = 1 - me.rank();
      ASSERT_TRUE(me.barrier());
      const std::array<int, 2> sent{42, static_cast<int>(me.rank())};
      ASSERT_TRUE(put(me, GlobalPtr<int>{other, 64}, sent));
      ASSERT_TRUE(signal(me, other, {0, 1}));
      ASSERT_TRUE(me.barrier());
      me.state().checked_peers = {};  // otherwise the check is skipped for 20 ms
      core::check_peers(me.state());
      const auto got = get_value(me, GlobalPtr<int>{me.rank(), 68});
      ASSERT_TRUE(got);
      EXPECT_EQ(*got, static_cast<int>(other));
      EXPECT_FALSE(me.is_lost(other));
    });
  }
};

#define REFUSED(call) \
  if ((call).code() != ErrorCode::invalid_argument) return __LINE__ % 256

/// Tries every kind of call on a copy: returns the line of the first one that is not refused.
int all_are_refused(Endpoint& me, Team& team, ShortRequest<int> handler, Event& event) {
  std::array<int, 2> some{1, 2};
  const GlobalPtr<int> there{1, 0};
  const GlobalPtr<int> here{0, 0};
  for (const auto at : {there, here}) {
    REFUSED(put(me, at, some));
    REFUSED(put_nb(me, at, some).status());
    REFUSED(put_nbi(me, at, some));
    REFUSED(put_value(me, at, 1));
    REFUSED(get(me, some, at));
    REFUSED(get_value(me, at).status());
    REFUSED(fetch_add(me, at, 1).status());
    REFUSED(compare_swap(me, at, 0, 1).status());
    REFUSED(put_signal_nb(me, at, some, {0, 1}).status());
    REFUSED(put_signal_nb(me, at, some, SignalWord{at.as<std::uint64_t>(8), 1}).status());
    REFUSED(put_signal_nbi(me, at, some, SignalWord{at.as<std::uint64_t>(8), 1}));
    REFUSED(wait_on(me, at, Comparison::equal, 0));
    REFUSED(copy(me, at.as<std::byte>(), here.as<const std::byte>(), 8));
    REFUSED(
        put(me, pieces(at, Strided(4, {{2, 8}})), pieces(std::as_const(some).data(), Strided(4, {{2, 4}}))));
    if (me.local(at) != nullptr) return __LINE__ % 256;
  }
  REFUSED(signal(me, 1, {0, 1}));
  REFUSED(reset_signal(me, 0, 5));
  REFUSED(wait_until(me, 0, 1));
  REFUSED(wait_on(me, some[0], Comparison::equal, 1));
  REFUSED(me.wait_until([] { return true; }));
  REFUSED(me.progress_for(std::chrono::seconds(1)));
  REFUSED(request(me, 1, handler, 7));
  REFUSED(prepare_medium(me, 1, 8).status());
  REFUSED(prepare_long(me, GlobalPtr<std::byte>{1, 0}, PayloadBounds{1, 8}).status());
  REFUSED(HandlerSpace::create(me, "of a child").status());
  REFUSED(on_short_request<int>(me, [](auto&, const int&) {}).status());
  REFUSED(me.barrier());
  REFUSED(team.notify());
  REFUSED(team.barrier());
  REFUSED(team.split(0, 0).status());
  REFUSED(Segment::create(me, 4096).status());
  REFUSED(Segment::attach(me, std::as_writable_bytes(std::span(some))).status());
  REFUSED(me.wait_implicit());
  if (!event.done()) REFUSED(me.wait(event));
  while (!me.test(event) || !test_until(me, 0, 1)) {
  }
  if (me.progress() != 0 || me.ranks() != 0 || !me.segment().empty()) return __LINE__ % 256;
  return 0;
}

TEST_P(ForkedJob, IsRefusedEverythingAndEndsNothing) {
  auto started = Job::in_process(2, config());
  ASSERT_TRUE(started) << started.status().text();
  std::optional<Job> job(std::move(*started));
  std::array<Handler<AmCategory::short_request, int>, 2> handlers;
  job->run_each(
      [&](Endpoint& me) { handlers[me.rank()] = *on_short_request<int>(me, [](auto&, const int&) {}); });
  use(*job);
  Endpoint& me = job->endpoint();
  const std::array<int, 1> sent{5};
  Event event = put_nb(me, GlobalPtr<int>{1, 0}, sent);
  EXPECT_EQ(in_a_child([&] {
              if (const int line = all_are_refused(me, me.world(), handlers[0], event)) return line;
              REFUSED(job->finish());
              job->abort(3, "a child must not be heard");
              event = Event{};
              job.reset();         // as at the end of main
#if !defined(__SANITIZE_THREAD__)  // TSan allows no new threads in a child of a process with threads
              auto own = Job::in_process(2, config());
              if (!own || !own->finish()) return 1;
#endif
              return 0;
            }),
            0);
  job->run_each([&](Endpoint& each) {
    if (&each == &me) {
      EXPECT_TRUE(me.wait(event));
    }
    ASSERT_TRUE(each.barrier());
  });
  use(*job);
  EXPECT_TRUE(job->finish());
}

TEST_P(ForkedJob, HoldsNoDescriptorBelowThreeNorOneThatIsInherited) {
  EXPECT_EQ(in_a_child([] {
              for (const int stream : {0, 1, 2}) ::close(stream);
              auto job = Job::in_process(2, config());
              if (!job) return 1;
              use(*job);
              if (testing::Test::HasFailure()) return 2;
              for (const int stream : {0, 1, 2}) {
                if (::fcntl(stream, F_GETFD) != -1) return 3;
              }
              for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
                const int fd = std::stoi(one.path().filename());
                const auto target = std::filesystem::read_symlink(one.path()).string();
                const bool ours = target.find("memfd:") != std::string::npos || target.starts_with("socket:");
                if (ours && (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) return 4;
              }
              return job->finish() ? 0 : 5;
            }),
            0);
}

INSTANTIATE_TEST_SUITE_P(
    Of, ForkedJob,
    testing::Values(Variant{"smp", {}}, Variant{"smp_posix", {{"smp_memory", "posix"}}},
                    Variant{"udp", {{"conduit", "udp"}, {"near", "off"}}},
                    Variant{"udp_full", {{"conduit", "udp"}, {"near", "off"}, {"udp_security", "full"}}},
                    Variant{"loop", {{"conduit", "loop"}, {"near", "off"}}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace aqueduct
