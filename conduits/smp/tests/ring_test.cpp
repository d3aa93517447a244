#include "conduits/smp/ring.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

using Packet = std::vector<std::byte>;

/// A ring in memory that this process shares with its children, and both of its ends.
class Ring {
 public:
  explicit Ring(RingShape shape) : shape(shape) {
    void* at = ::mmap(nullptr, shape.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    memory = static_cast<std::byte*>(at);
    producer = Producer(memory, shape);
    consumer = Consumer(memory, shape);
  }
  ~Ring() { ::munmap(memory, shape.bytes()); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// Pushes the first `head` bytes as header and the rest as payload, each from a buffer of exactly its size.
  bool push(const Packet& packet, std::size_t head = 0) {
    const Packet first(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(head));
    const Packet rest(packet.begin() + static_cast<std::ptrdiff_t>(head), packet.end());
    return producer.push(first, rest, std::memory_order_release);
  }
  std::vector<Packet> drain(int most = 1 << 20) {
    std::vector<Packet> found;
    consumer.drain(most, [&](std::span<const std::byte> packet) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packet.data()) % 8, 0u);
      found.emplace_back(packet.begin(), packet.end());
    });
    return found;
  }

  RingShape shape;
  std::byte* memory = nullptr;
  Producer producer;
  Consumer consumer;
};

Packet packet_of(std::uint64_t number, std::size_t bytes) {
  Packet made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(number * 131 + i * 7 + i / 251);
  return made;
}

constexpr RingShape kSmall{16, 1024};

TEST(Ring, IsEmptyAtFirst) {
  Ring ring(kSmall);
  EXPECT_TRUE(ring.drain().empty());
  EXPECT_EQ(ring.producer.on_their_way(), 0u);
}

TEST(Ring, PassesEverySizeWhereverInTheRing) {
  Ring ring(kSmall);
  std::uint64_t number = 0;
  for (std::size_t bytes = 1; bytes <= kSmall.max_packet(); ++bytes) {
    // Odd counts, so that each size begins in a different slot and at a different place in the data area.
    for (int i = 0; i < 3; ++i, ++number) {
      const Packet sent = packet_of(number, bytes);
      ASSERT_TRUE(ring.push(sent, std::min<std::size_t>(bytes / 2 & ~std::size_t{7}, 120)));
      ASSERT_EQ(ring.drain(), std::vector<Packet>{sent}) << bytes << " bytes";
    }
  }
}

TEST(Ring, GivesTheHeadOutOfTheSlotToWhoTakesItApartFromThePayload) {
  Ring ring(kSmall);
  const auto in_slots = [&](const std::byte* at) {
    const auto place = static_cast<std::size_t>(at - ring.memory);
    return place >= 2 * sizeof(Consumed) && place < 2 * sizeof(Consumed) + kSmall.slots * sizeof(Slot);
  };
  for (std::uint64_t i = 0; i < 100; ++i) {
    for (const std::size_t head : {8u, 32u, 56u}) {
      const Packet sent = packet_of(i, head + 64 + i);
      ASSERT_TRUE(ring.push(sent, head));
      Packet got;
      const int taken =
          ring.consumer.drain(1, [&](std::span<const std::byte> first, std::span<std::byte> rest = {}) {
            EXPECT_EQ(first.size(), head);
            EXPECT_TRUE(in_slots(first.data()));
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(rest.data()) % 64, 0u);
            got.assign(first.begin(), first.end());
            std::fill_n(rest.data() - kRoomForHead, kRoomForHead,
                        std::byte{0xff});  // nobody else has anything there
            got.insert(got.end(), rest.begin(), rest.end());
          });
      EXPECT_EQ(taken, 1);
      ASSERT_EQ(got, sent);
    }
  }
}

TEST(Ring, KeepsAHeadThatIsLongerThanASlotOrMissingWithItsPayload) {
  Ring ring(kSmall);
  for (const std::size_t head : {0u, 64u}) {
    const Packet sent = packet_of(head, 160);
    ASSERT_TRUE(ring.push(sent, head));
    ASSERT_TRUE(ring.push(sent, 16));  // is where it belongs after that one
    int parts = 0;
    ring.consumer.drain(2, [&](std::span<const std::byte> first, std::span<std::byte> rest = {}) {
      parts += first.size() == (rest.empty() ? 160u : 16u);
    });
    EXPECT_EQ(parts, 2);
  }
}

TEST(Ring, TakesNoMoreThanItHasSlotsAndGoesOnWhenTheyAreFree) {
  Ring ring(kSmall);
  for (int turn = 0; turn < 5; ++turn) {
    std::vector<Packet> sent;
    for (std::uint64_t i = 0; i < kSmall.slots; ++i) {
      sent.push_back(packet_of(i, 8 * (1 + i % 7)));
      ASSERT_TRUE(ring.push(sent.back(), 8));
    }
    EXPECT_FALSE(ring.push(packet_of(99, 8), 8));
    EXPECT_EQ(ring.producer.on_their_way(), kSmall.slots);
    EXPECT_EQ(ring.drain(3).size(), 3u);
    for (std::uint64_t i = 0; i < 3; ++i) {
      sent.push_back(packet_of(50 + i, 16));
      ASSERT_TRUE(ring.push(sent.back(), 16));
    }
    EXPECT_FALSE(ring.push(packet_of(99, 8), 8));
    sent.erase(sent.begin(), sent.begin() + 3);
    EXPECT_EQ(ring.drain(), sent);
  }
}

TEST(Ring, WithItsDataAreaFullStillTakesShortPackets) {
  Ring ring(kSmall);
  int longs = 0;
  while (ring.push(packet_of(0, kSmall.max_packet()))) ++longs;
  EXPECT_EQ(longs, 4);
  EXPECT_TRUE(ring.push(packet_of(1, 56)));
  EXPECT_FALSE(ring.push(packet_of(1, 57)));
  EXPECT_EQ(ring.drain(1).size(), 1u);
  EXPECT_TRUE(ring.push(packet_of(2, 57)));
  EXPECT_EQ(ring.drain().size(), 5u);
}

TEST(Ring, KeepsAPacketTogetherAtTheEndOfTheDataArea) {
  Ring ring(kSmall);
  // Three packets of 192 bytes per round leave the cursor at each multiple of 64 in turn.
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Packet sent = packet_of(i, i % 2 == 0 ? 192 : 250);
    ASSERT_TRUE(ring.push(sent));
    ASSERT_EQ(ring.drain(), std::vector<Packet>{sent}) << "packet " << i;
  }
}

TEST(Ring, BehavesAsAQueueUnderRandomUse) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Ring ring(kSmall);
  std::deque<Packet> model;
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    if (random() % 2 == 0) {
      const Packet sent = packet_of(i, 1 + random() % kSmall.max_packet());
      if (ring.push(sent)) {
        model.push_back(sent);
      } else {
        ASSERT_FALSE(model.empty()) << "an empty ring has room for any packet";
      }
    } else {
      for (const Packet& got : ring.drain(static_cast<int>(random() % 5))) {
        ASSERT_FALSE(model.empty());
        ASSERT_EQ(got, model.front());
        model.pop_front();
      }
    }
  }
}

TEST(RingStress, TwoThreadsLoseAndTearNothing) {
  for (const RingShape shape : {RingShape{2, 1024}, RingShape{64, 4096}}) {
    // Fewer with two slots, where each packet may cost a context switch.
    const std::uint64_t packets = shape.slots == 2 ? 2'000 : 20'000;
    Ring ring(shape);
    // All bytes of a packet have one value, different from its neighbours': cheap to check, and reveals stale bytes.
    const auto made = [&](std::uint64_t i) {
      return Packet(8 + i * i % (shape.max_packet() - 8), static_cast<std::byte>(i % 251));
    };
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::thread sender([&] {
      for (std::uint64_t i = 0; i < packets;) {
        if (ring.push(made(i), 8)) {
          ++i;
        } else {
          std::this_thread::yield();
          if (std::chrono::steady_clock::now() > until) return;
        }
      }
    });
    std::uint64_t got = 0, wrong = 0;
    while (got < packets && std::chrono::steady_clock::now() < until) {
      const int taken = ring.consumer.drain(32, [&](std::span<const std::byte> packet) {
        const Packet expected = made(got);
        wrong += !std::equal(packet.begin(), packet.end(), expected.begin(), expected.end());
        ++got;
      });
      if (taken == 0) std::this_thread::yield();
    }
    sender.join();
    EXPECT_EQ(got, packets);
    EXPECT_EQ(wrong, 0u);
  }
}

TEST(Ring, AProducerThatDiesBeforePublishingLeavesWhatWasPublished) {
  Ring ring(kSmall);
  const pid_t child = ::fork();
  if (child == 0) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      if (!ring.push(packet_of(i, 40 + 20 * i))) ::_exit(1);
    }
    const RingView view(ring.memory, kSmall);  // does what push does before the store that publishes
    std::memset(view.slots[3].packet, 0xff, sizeof view.slots[3].packet);
    std::memset(view.data + 256, 0xff, 512);
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const auto got = ring.drain();
  ASSERT_EQ(got.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(got[i], packet_of(i, 40 + 20 * i));
  EXPECT_TRUE(ring.drain().empty());
}

}  // namespace
}  // namespace aqueduct::conduits::smp
