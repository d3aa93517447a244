#include "conduits/udp/carrier/socket_carrier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <fstream>
#include <thread>

#include <linux/capability.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aqueduct::conduits::udp {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// One attempt to open a carrier, with its result and log.
class Attempt {
 public:
  explicit Attempt(const SocketCarrier::Options& options)
      : log_(core::LogLevel::warn, [this](core::LogLevel, std::string_view line) { said_ += line; }),
        result_(SocketCarrier::open(options, log_)) {}

  bool worked() const { return result_.ok(); }
  ErrorCode code() const { return result_.status().code(); }
  SocketCarrier& carrier() { return **result_; }
  const std::string& said() const { return said_; }

 private:
  std::string said_;
  core::Log log_;
  Result<std::unique_ptr<SocketCarrier>> result_;
};

SocketCarrier::Options bound_to(const Address& address) { return {.bind_to = address}; }

TEST(UdpSocketSetup, NamesAPortThatIsTaken) {
  for (const char* host : {"127.0.0.1", "::1"}) {
    Attempt first(bound_to(*Address::parse(host)));
    ASSERT_TRUE(first.worked()) << first.said();
    Attempt second(bound_to(first.carrier().local()));
    EXPECT_EQ(second.code(), ErrorCode::network_failed);
    EXPECT_THAT(second.said(), AllOf(HasSubstr(std::to_string(first.carrier().local().port())),
                                     HasSubstr(host), HasSubstr("taken")));
  }
}

TEST(UdpSocketSetup, NamesAnAddressThatThisHostHasNot) {
  Attempt attempt(bound_to(*Address::parse("203.0.113.77")));
  EXPECT_EQ(attempt.code(), ErrorCode::network_failed);
  EXPECT_THAT(attempt.said(), AllOf(HasSubstr("203.0.113.77"), HasSubstr("no interface")));
}

TEST(UdpSocketSetup, NeedsAnAddress) {
  Attempt attempt(bound_to(Address{}));
  EXPECT_EQ(attempt.code(), ErrorCode::invalid_argument);
  EXPECT_THAT(attempt.said(), HasSubstr("address"));
}

TEST(UdpSocketSetup, NamesTheLimitOfOpenFiles) {
  // The sanitizers open a pipe when they first check a class. So this happens before the limit forbids it.
  ASSERT_TRUE(Attempt(bound_to(*Address::parse("127.0.0.1"))).worked());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(STDERR_FILENO);  // not always 3: standard input may be closed
  ASSERT_GE(next, 0);
  ::close(next);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  Attempt attempt(bound_to(*Address::parse("127.0.0.1")));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(attempt.code(), ErrorCode::network_failed);
  EXPECT_THAT(attempt.said(), AllOf(HasSubstr("open files"), HasSubstr("ulimit -n")));
}

// Drops the calling thread's capability to exceed the system's limits.
bool drop_rights() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> none{};
  return ::syscall(SYS_capset, &head, none.data()) == 0;
}

TEST(UdpSocketSetup, NamesTheLimitOfBuffers) {
  long limit = 0;
  std::ifstream("/proc/sys/net/core/rmem_max") >> limit;
  if (limit <= 0 || limit > INT_MAX / 8) GTEST_SKIP() << "net.core.rmem_max is " << limit;
  std::thread([&] {
    ASSERT_TRUE(drop_rights());
    SocketCarrier::Options options = bound_to(*Address::parse("127.0.0.1"));
    options.receive_buffer = static_cast<int>(limit) + 4096;
    Attempt attempt(options);
    ASSERT_TRUE(attempt.worked());
    EXPECT_EQ(attempt.carrier().receive_buffer(), 2 * limit);
    EXPECT_THAT(attempt.said(), AllOf(HasSubstr("net.core.rmem_max"), HasSubstr(std::to_string(limit)),
                                      HasSubstr(std::to_string(limit + 4096))));
    options.receive_buffer = static_cast<int>(limit);
    EXPECT_EQ(Attempt(options).said(), "");
    options.send_buffer = INT_MAX / 4;
    EXPECT_THAT(Attempt(options).said(), AllOf(HasSubstr("net.core.wmem_max"), HasSubstr("send buffer")));
  }).join();
}

TEST(UdpSocketSetup, LiftsTheMarkOnlyForWhatMayBeCut) {
  for (const char* host : {"127.0.0.1", "::1"}) {
    Attempt attempt(bound_to(*Address::parse(host)));
    ASSERT_TRUE(attempt.worked()) << attempt.said();
    SocketCarrier& carrier = attempt.carrier();
    const bool ipv6 = carrier.local().family() == AF_INET6;
    const auto mark = [&] {
      int value = -1;
      socklen_t bytes = sizeof value;
      ::getsockopt(carrier.descriptor(), ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
                   ipv6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER, &value, &bytes);
      return value;
    };
    EXPECT_EQ(mark(), ipv6 ? IPV6_PMTUDISC_PROBE : IP_PMTUDISC_PROBE);
    std::array<std::byte, 65527> memory{};
    const std::size_t bytes = carrier.most_bytes();
    const iovec piece{memory.data(), bytes};
    Outgoing outgoing{.to = &carrier.local(), .pieces = {&piece, 1}, .bytes = bytes, .segment = bytes};
    outgoing.may_fragment = true;
    EXPECT_EQ(carrier.send({&outgoing, 1}), 1u);
    EXPECT_EQ(carrier.counters().refused, 0u);  // on IPv6 longer than the MTU, 65488 bytes: in two fragments
    EXPECT_EQ(mark(), ipv6 ? IPV6_PMTUDISC_PROBE : IP_PMTUDISC_PROBE);
    outgoing.may_fragment = false;
    EXPECT_EQ(carrier.send({&outgoing, 1}), 1u);
    EXPECT_EQ(carrier.too_long(), ipv6 ? bytes : 0u);
    pollfd waiting{carrier.descriptor(), POLLIN, 0};
    ASSERT_EQ(::poll(&waiting, 1, 2000), 1);
    const auto got = carrier.receive(1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].bytes.size(), bytes);
  }
}

TEST(UdpSocketSetup, DropsWhatIsLongerThanItsBuffers) {
  core::Log log(core::LogLevel::warn, [](core::LogLevel, std::string_view line) { ADD_FAILURE() << line; });
  auto socket = make_bound_socket(*Address::parse("127.0.0.1"), log);
  ASSERT_TRUE(socket);
  Carrier::Counters counters;
  SocketReceiver receiver(socket->get(), {.buffers = 4, .buffer_bytes = 128}, counters);
  const Address here = local_address(socket->get());
  const std::array<std::byte, 129> bytes{};
  for (const std::size_t size : {std::size_t{129}, std::size_t{0}, std::size_t{128}}) {
    ASSERT_EQ(::sendto(socket->get(), bytes.data(), size, 0, here.get(), here.bytes),
              static_cast<ssize_t>(size));
  }
  const auto got = receiver.receive(4);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].bytes.size(), 128u);
  EXPECT_EQ(counters.truncated, 1u);
  EXPECT_EQ(counters.received, 2u);  // the empty datagram counts as received, but is not handed over
}

}  // namespace
}  // namespace aqueduct::conduits::udp
