#include "conduits/udp/carrier/socket_carrier.hpp"
#include "conduits/udp/carrier/socket_sender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <sys/un.h>
#include <unistd.h>

namespace aqueduct::conduits::udp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

core::Log failing_log() {
  return {core::LogLevel::warn, [](core::LogLevel, std::string_view line) { ADD_FAILURE() << line; }};
}

/// A Unix datagram socket. Unlike UDP over loopback its queue can be full.
class Bottleneck {
 public:
  Bottleneck()
      : sender_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
        receiver_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un any{};
    any.sun_family = AF_UNIX;  // the system chooses a name
    EXPECT_EQ(::bind(receiver_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(sa_family_t)), 0);
    to_.bytes = sizeof to_.raw;
    EXPECT_EQ(::getsockname(receiver_.get(), reinterpret_cast<sockaddr*>(&to_.raw), &to_.bytes), 0);
  }

  int sender() const noexcept { return sender_.get(); }
  const Address& to() const noexcept { return to_; }
  /// The first byte of each datagram in the queue.
  std::vector<std::byte> drain() {
    std::vector<std::byte> all;
    std::byte one{};
    while (::recv(receiver_.get(), &one, 1, 0) > 0) all.push_back(one);
    return all;
  }

 private:
  Descriptor sender_;
  Descriptor receiver_;
  Address to_;
};

class UdpSocketSender : public testing::TestWithParam<bool> {};

TEST_P(UdpSocketSender, StopsWhereThereIsNoRoomAndGoesOnThere) {
  Bottleneck line;
  Carrier::Counters counters;
  core::Log log = failing_log();
  SocketSender sender(line.sender(), AF_UNIX,
                      {.segmentation = false, .many_messages = GetParam(), .dont_fragment = false}, counters,
                      log);
  constexpr std::size_t kCount = 150;
  std::vector<std::byte> numbers(kCount);
  std::vector<iovec> pieces(kCount);
  std::vector<Outgoing> batch(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    numbers[i] = static_cast<std::byte>(i);
    pieces[i] = {&numbers[i], 1};
    batch[i] = {.to = &line.to(), .pieces = {&pieces[i], 1}, .bytes = 1, .segment = 1};
  }
  std::vector<std::byte> got;
  std::size_t taken = 0;
  for (std::uint64_t refusals = 0; taken < kCount; ++refusals) {
    EXPECT_EQ(counters.no_room, refusals);
    const std::size_t now = sender.send(std::span(batch).subspan(taken));
    ASSERT_GT(now, 0u);
    taken += now;
    const auto more = line.drain();
    EXPECT_EQ(more.size(), now);
    got.insert(got.end(), more.begin(), more.end());
  }
  EXPECT_GT(counters.no_room, 0u) << "the queue of a Unix socket took all";
  EXPECT_EQ(counters.refused, 0u);
  EXPECT_EQ(got, numbers);
}

TEST_P(UdpSocketSender, SendsAllOfAnOutgoingAgainOfWhichOnlyAPartFoundRoom) {
  Bottleneck line;
  Carrier::Counters counters;
  core::Log log = failing_log();
  SocketSender sender(line.sender(), AF_UNIX,
                      {.segmentation = false, .many_messages = GetParam(), .dont_fragment = false}, counters,
                      log);
  std::array<std::byte, 4> numbers{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3}};
  const iovec piece{numbers.data(), numbers.size()};
  const std::vector<Outgoing> batch(
      100, {.to = &line.to(), .pieces = {&piece, 1}, .bytes = numbers.size(), .segment = 1});
  const std::size_t taken = sender.send(batch);
  ASSERT_LT(taken, batch.size());
  const auto got = line.drain();
  EXPECT_EQ(got.size(), counters.sent);
  EXPECT_EQ(got.size() / numbers.size(), taken);
  ASSERT_EQ(sender.send({batch.data(), 1}), 1u);
  EXPECT_EQ(line.drain(), std::vector(numbers.begin(), numbers.end()));
}

INSTANTIATE_TEST_SUITE_P(Calls, UdpSocketSender, testing::Bool(),
                         [](const auto& one) { return one.param ? "Mmsg" : "Single"; });

// A socket without SO_BROADCAST may not send to all hosts, and one bound to loopback has no route to other networks: nothing
// leaves the machine.
TEST(UdpRefusals, AreToldOnceForEachReasonWithTheAddress) {
  std::vector<std::string> said;
  core::Log log(core::LogLevel::warn,
                [&](core::LogLevel, std::string_view line) { said.emplace_back(line); });
  auto carrier = SocketCarrier::open({.bind_to = *Address::parse("127.0.0.1")}, log);
  ASSERT_TRUE(carrier);
  const Address far = *Address::parse("255.255.255.255:4711");
  std::array<std::byte, 8> bytes{};
  const iovec piece{bytes.data(), bytes.size()};
  const Outgoing outgoing{.to = &far, .pieces = {&piece, 1}, .bytes = bytes.size(), .segment = bytes.size()};
  EXPECT_EQ((*carrier)->troubles(), "");
  for (int i = 0; i < 3; ++i) EXPECT_EQ((*carrier)->send({&outgoing, 1}), 1u);
  EXPECT_EQ((*carrier)->counters().refused, 3u);
  ASSERT_NE((*carrier)->last_error(), 0);
  const std::string why = std::strerror((*carrier)->last_error());
  ASSERT_EQ(said.size(), 1u) << "one line for three refusals";
  EXPECT_THAT(said[0], AllOf(HasSubstr("255.255.255.255:4711"), HasSubstr(why)));
  EXPECT_EQ((*carrier)->troubles(), "; 3 datagrams refused by this system, last: " + why);
}

TEST(UdpSegmentation, IsSwitchedOffWhenTheSystemRefusesIt) {
  auto log = failing_log();
  auto carrier = SocketCarrier::open({.bind_to = *Address::parse("127.0.0.1")}, log);
  ASSERT_TRUE(carrier);
  if (!(*carrier)->gso()) GTEST_SKIP() << "this system has no UDP_SEGMENT";
  // Without checksums the system does not segment. It answers EINVAL, as for an interface that cannot segment.
  const int on = 1;
  ASSERT_EQ(::setsockopt((*carrier)->descriptor(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
  std::array<std::byte, 1000> bytes{};
  const iovec piece{bytes.data(), bytes.size()};
  const std::vector<Outgoing> batch(
      3, {.to = &(*carrier)->local(), .pieces = {&piece, 1}, .bytes = bytes.size(), .segment = 300});
  EXPECT_EQ((*carrier)->send(batch), 3u);
  EXPECT_FALSE((*carrier)->gso());
  EXPECT_EQ((*carrier)->gso_failures(), 1u);
  EXPECT_EQ((*carrier)->counters().sent, 12u);
  EXPECT_EQ((*carrier)->counters().refused, 0u);
  std::size_t got = 0;
  for (const Incoming& read : (*carrier)->receive(16)) got += read.bytes.size();
  EXPECT_EQ(got, 3 * bytes.size());
}

TEST(UdpSegmentation, StaysOnWhenTheSegmentsAreTooLong) {
  auto log = failing_log();
  auto carrier = SocketCarrier::open({.bind_to = *Address::parse("::1")}, log);
  ASSERT_TRUE(carrier);
  if (!(*carrier)->gso()) GTEST_SKIP() << "this system has no UDP_SEGMENT";
  std::vector<std::byte> bytes(65520);
  const iovec piece{bytes.data(), bytes.size()};
  const Outgoing outgoing{
      .to = &(*carrier)->local(), .pieces = {&piece, 1}, .bytes = bytes.size(), .segment = 65500};
  EXPECT_EQ((*carrier)->send({&outgoing, 1}), 1u);  // loopback's MTU leaves 65488
  EXPECT_EQ((*carrier)->too_long(), 65500u);
  EXPECT_EQ((*carrier)->counters().too_long, (*carrier)->counters().refused);
  EXPECT_TRUE((*carrier)->gso());
}

}  // namespace
}  // namespace aqueduct::conduits::udp
