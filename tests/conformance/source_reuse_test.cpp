#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>

namespace aqueduct::conformance {
namespace {

class SourceBuffer : public FabricTest {};

constexpr std::size_t kArea = 1 << 20;

/// Sizes from 1 B to 256 KiB, with small ones far more often.
std::size_t some_size(Endpoint& me, Random& random) {
  const std::size_t most = reasonable(me, 256 * 1024);
  return 1 + random.any_magnitude(18) % most;
}

TEST_P(SourceBuffer, MayBeOverwrittenAtReturnIfAskedSo) {
  as_each_of(2, kArea, [seed = seed(), most = often(10'000)](Endpoint& me) {
    Random random(seed + me.rank());
    std::vector<std::byte> source(256 * 1024);
    std::vector<std::byte> expected(kArea);
    std::vector<std::byte> read(kArea);
    std::vector<Event> events;
    std::size_t at = 0;
    const auto check = [&] {
      for (Event& event : events) ASSERT_TRUE(me.wait(event));
      events.clear();
      ASSERT_TRUE(get(me, std::span(read).first(at), GlobalPtr<std::byte>{next(me), 0}));
      ASSERT_TRUE(holds(std::span(read).first(at), std::span(expected).first(at)));
      at = 0;
    };
    const int puts = reasonable(me, 100'000) < 100'000 ? most / 7 : most;  // fewer where packets are small
    for (int i = 0; i < puts; ++i) {
      const std::size_t size = some_size(me, random);
      if (at + size > kArea) {
        ASSERT_NO_FATAL_FAILURE(check());
      }
      const auto from = std::span(source).first(size);
      const auto value = static_cast<std::byte>(random());
      std::ranges::fill(from, value);
      std::ranges::fill(std::span(expected).subspan(at, size), value);
      events.push_back(
          put_nb(me, GlobalPtr<std::byte>{next(me), at}, from, {.source = SourceReuse::at_return}));
      std::ranges::fill(from, ~value);  // immediately after the call
      at += size;
    }
    ASSERT_NO_FATAL_FAILURE(check());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(SourceBuffer, MayBeOverwrittenAtReturnOfImplicitPutsToo) {
  as_each_of(3, kArea, [](Endpoint& me) {
    std::vector<std::byte> source(700);
    for (std::size_t i = 0; i < 1000; ++i) {
      std::ranges::fill(source, static_cast<std::byte>(i + me.rank()));
      ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), i * source.size()}, source,
                          {.source = SourceReuse::at_return}));
    }
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(me.barrier());
    for (std::size_t i = 0; i < 1000; ++i) {
      ASSERT_TRUE(all_are(me.segment().subspan(i * source.size(), source.size()),
                          static_cast<std::byte>(i + previous(me))))
          << "put " << i;
    }
  });
}

TEST_P(SourceBuffer, MayBeOverwrittenAtReturnOfAPutWithSignalToo) {
  constexpr std::size_t kPuts = 400;
  constexpr std::size_t kRoom = 2048;
  as_each_of(2, kPuts * kRoom, [](Endpoint& me) {
    const auto size = [](std::size_t i) { return i % 2 == 0 ? 1 + i % 64 : 1 + 5 * i; };  // short and long
    std::vector<std::byte> source(kRoom);
    std::vector<Event> events;
    for (std::size_t i = 0; i < kPuts; ++i) {
      const auto from = std::span(source).first(size(i));
      const auto value = static_cast<std::byte>(i + me.rank());
      std::ranges::fill(from, value);
      events.push_back(put_signal_nb(me, GlobalPtr<std::byte>{next(me), i * kRoom}, from, {},
                                     {.source = SourceReuse::at_return}));
      std::ranges::fill(from, ~value);  // immediately after the call
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    ASSERT_TRUE(wait_until(me, Signal{}.slot, kPuts));
    for (std::size_t i = 0; i < kPuts; ++i) {
      ASSERT_TRUE(all_are(me.segment().subspan(i * kRoom, size(i)), static_cast<std::byte>(i + previous(me))))
          << "put " << i;
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(SourceBuffer, MayBeOverwrittenWhenItsEventFires) {
  as_each_of(2, kArea, [seed = seed()](Endpoint& me) {
    Random random(seed + me.rank());
    std::vector<std::byte> source(256 * 1024);
    std::vector<std::byte> read(256 * 1024);
    for (int i = 0; i < 500; ++i) {
      const auto from = std::span(source).first(some_size(me, random));
      const auto to = GlobalPtr<std::byte>{next(me), random.below(kArea - from.size())};
      const auto value = static_cast<std::byte>(random());
      std::ranges::fill(from, value);
      Event source_event;
      Event put = put_nb(me, to, from, {.source = SourceReuse::on_event, .source_event = &source_event});
      ASSERT_TRUE(me.wait(source_event));
      std::ranges::fill(from, ~value);
      ASSERT_TRUE(me.wait(put));
      ASSERT_TRUE(get(me, std::span(read).first(from.size()), to));
      ASSERT_TRUE(all_are(std::span(read).first(from.size()), value)) << from.size() << " bytes";
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(SourceBuffer, EventMayBeWaitedForAfterTheWholePut) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 4096);
    Event source_event;
    Event put = put_nb(me, GlobalPtr<std::byte>{next(me), 0}, sent,
                       {.source = SourceReuse::on_event, .source_event = &source_event});
    ASSERT_TRUE(me.wait(put));
    EXPECT_TRUE(me.wait(source_event));
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment(), pattern(previous(me), 4096)));
  });
}

TEST_P(SourceBuffer, OfARefusedImmediatePutIsNotSentAndOfAnAcceptedOneIs) {
  const Launch launch{.ranks = 2, .segment_bytes = 4000 * 64, .settings = {{"operations", "16"}}};
  run(launch, [](Endpoint& me) {
    constexpr std::size_t kPuts = 4000;
    constexpr std::size_t kBytes = 64;
    const auto sent = pattern(me.rank(), kPuts * kBytes);
    std::vector<Event> events;
    std::vector<bool> accepted(kPuts);
    for (std::size_t i = 0; i < kPuts; ++i) {
      Event event = put_nb(me, GlobalPtr<std::byte>{next(me), i * kBytes},
                           std::span(sent).subspan(i * kBytes, kBytes), {.immediate = true});
      accepted[i] = !event.done() || event.status().ok();
      if (accepted[i]) {
        events.push_back(std::move(event));
      } else {
        ASSERT_EQ(event.status().code(), ErrorCode::refused);
        me.progress();
      }
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    // A refused put has had no effect; an accepted one has arrived.
    std::vector<std::byte> read(kPuts * kBytes);
    ASSERT_TRUE(get(me, read, GlobalPtr<std::byte>{next(me), 0}));
    for (std::size_t i = 0; i < kPuts; ++i) {
      const auto found = std::span(read).subspan(i * kBytes, kBytes);
      if (accepted[i]) {
        ASSERT_TRUE(holds(found, std::span(sent).subspan(i * kBytes, kBytes))) << "accepted put " << i;
      } else {
        ASSERT_TRUE(all_are(found, std::byte{0})) << "refused put " << i;
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, SourceBuffer, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
