#include "tests/conformance/pattern.hpp"
#include "tests/conformance/property.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace aqueduct::conformance {
namespace {

using PostKind = core::Post::Kind;

/// A header that contains the packet's number.
std::array<std::byte, 8> header_of(std::uint64_t number) {
  std::array<std::byte, 8> header;
  std::memcpy(header.data(), &number, sizeof number);
  return header;
}

std::uint64_t number_of(const Recorder::Packet& packet) {
  std::uint64_t number = ~std::uint64_t{0};
  if (packet.bytes.size() >= sizeof number) std::memcpy(&number, packet.bytes.data(), sizeof number);
  return number;
}

TEST_P(Property, LimitsAreWithinWhatTheCoreNeeds) {
  on_bench(2, [](ConduitBench& bench) {
    const core::Properties& properties = bench.conduit(0).properties();
    EXPECT_FALSE(properties.name.empty());
    EXPECT_GE(properties.max_packet, core::kLeastPacket);
    if (bench.conduit(0).rma() != nullptr) {
      EXPECT_GT(properties.max_transfer, 0u);
      EXPECT_LE(properties.max_inject, properties.max_transfer);
      EXPECT_LE(properties.max_inject_signal, properties.max_transfer);
    }
    if (bench.conduit(0).signal() != nullptr) {
      EXPECT_NE(bench.conduit(0).rma(), nullptr) << "a native signal needs native puts";
    }
  });
}

TEST_P(Property, EveryPacketUpToTheLargestArrivesOnceAndWhole) {
  on_bench(3, [](ConduitBench& bench) {
    const std::size_t most = bench.conduit(0).properties().max_packet - 8;
    const auto sizes = sizes_around({most, most / 2}, most);
    const auto payload = pattern(1, most);
    std::map<core::Token, int> expected;  // completions
    core::Token token = 1;
    std::uint64_t sent = 0;
    for (int round = 0; round < 20; ++round) {
      for (const std::size_t size : sizes) {
        for (Rank from = 0; from < bench.ranks(); ++from) {
          const Rank to = static_cast<Rank>((from + sent / bench.ranks()) % bench.ranks());
          const core::Post post = bench.insist([&] {
            auto header = header_of(1'000'000 * (10 * to + from + 1) + size);
            const core::Post answer =
                bench.conduit(from).send(to, header, std::span(payload).first(size), token);
            header.fill(std::byte{0xee});  // the header belongs to the sender again, whatever the answer
            return answer;
          });
          ASSERT_TRUE(post.kind == PostKind::done || post.kind == PostKind::posted) << size << " bytes";
          if (post.kind == PostKind::posted) expected[token] = 1;
          ++token;
          ++sent;
        }
      }
    }
    const auto arrived = [&] {
      std::size_t packets = 0;
      std::size_t completions = 0;
      for (Rank rank = 0; rank < bench.ranks(); ++rank) {
        packets += bench.inbox(rank).packets.size();
        completions += bench.inbox(rank).completions.size();
      }
      return packets >= sent && completions >= expected.size();
    };
    ASSERT_TRUE(bench.poll_until(arrived)) << "packets or completions are missing";
    for (int i = 0; i < 200; ++i) bench.poll();  // time for a duplicate to arrive
    std::map<core::Token, int> completions;
    std::map<std::uint64_t, int> numbers;
    std::size_t packets = 0;
    for (Rank rank = 0; rank < bench.ranks(); ++rank) {
      const Recorder& inbox = bench.inbox(rank);
      completions.insert(inbox.completions.begin(), inbox.completions.end());
      packets += inbox.packets.size();
      EXPECT_EQ(inbox.misaligned, 0);
      EXPECT_TRUE(inbox.failures.empty());
      EXPECT_TRUE(inbox.losses.empty());
      for (const auto& packet : inbox.packets) {
        const std::uint64_t size = number_of(packet) % 1'000'000;
        ASSERT_EQ(number_of(packet) / 1'000'000, 10 * rank + packet.from + 1u)
            << "another's packet, or sender";
        ASSERT_EQ(packet.bytes.size(), size + 8);
        ASSERT_TRUE(holds(std::span(packet.bytes).subspan(8), std::span(payload).first(size)));
        ++numbers[number_of(packet) % 10'000'000];  // whichever rank it was for
      }
    }
    EXPECT_EQ(packets, sent);
    EXPECT_EQ(completions, expected) << "one completion for each post that was answered `posted`, no other";
    for (const auto& [number, count] : numbers) {
      ASSERT_EQ(count, 20) << number % 1'000'000 << " bytes from rank " << number / 1'000'000 - 1;
    }
  });
}

TEST_P(Property, NativePutsAndGetsUpToTheLargestAreInPlaceWhenComplete) {
  on_bench(2, [](ConduitBench& bench) {
    core::NativeRma* rma = bench.conduit(0).rma();
    if (rma == nullptr) return;  // the reference layer does puts
    const auto& properties = bench.conduit(0).properties();
    const std::size_t most = std::min<std::size_t>(properties.max_transfer, 1 << 20);
    Target target(bench, most + 100);
    ASSERT_TRUE(target.status) << target.status.text();
    core::Token token = 1;
    for (const std::size_t size : sizes_around({most, properties.max_inject}, most)) {
      for (const bool inject : {false, true}) {
        if (inject && size > properties.max_inject) continue;
        auto source = pattern(token, size);
        const auto sent = source;
        const core::Post put =
            bench.insist([&] { return rma->put(1, target.key, token % 64, source, inject, token); });
        if (inject) std::ranges::fill(source, std::byte{0x5a});  // reusable at return
        ASSERT_TRUE(ends(bench, put, token)) << "put of " << size << " bytes";
        ASSERT_TRUE(holds(std::span(target.memory).subspan(token % 64, size), sent));
        ++token;
        std::vector<std::byte> read(size);
        const core::Post get =
            bench.insist([&] { return rma->get(1, target.key, (token - 1) % 64, read, token); });
        ASSERT_TRUE(ends(bench, get, token)) << "get of " << size << " bytes";
        ASSERT_TRUE(holds(read, sent));
        ++token;
      }
    }
    bench.conduit(1).rma()->unregister_segment(0);
  });
}

TEST_P(Property, PutBeforeSendMeansThatThePacketComesAfterTheBytes) {
  on_bench(2, [](ConduitBench& bench) {
    core::NativeRma* rma = bench.conduit(0).rma();
    if (rma == nullptr || !bench.conduit(0).properties().put_before_send) return;
    Target target(bench, 64 * 1024);
    ASSERT_TRUE(target.status) << target.status.text();
    const core::Properties& properties = bench.conduit(0).properties();
    const std::size_t most =
        std::min({properties.max_transfer, properties.max_ordered, std::size_t{64} << 10});
    for (core::Token token = 1; token <= 500; ++token) {
      const auto source = pattern(token, 1 + mix(token) % most);
      const auto header = header_of(token);
      const core::Post put = bench.insist([&] { return rma->put(1, target.key, 0, source, false, token); });
      bench.insist([&] { return bench.conduit(0).send(1, header, {}, 1'000'000 + token); });
      ASSERT_TRUE(bench.poll_until([&] { return bench.inbox(1).packets.size() >= token; }));
      ASSERT_TRUE(holds(std::span(target.memory).first(source.size()), source))
          << "the packet overtook the put";
      ASSERT_TRUE(ends(bench, put, token));
    }
    bench.conduit(1).rma()->unregister_segment(0);
  });
}

TEST_P(Property, NativeSignalsAreHeardOnceEachAfterTheirBytes) {
  on_bench(2, [](ConduitBench& bench) {
    core::NativeSignal* signal = bench.conduit(0).signal();
    if (signal == nullptr) return;
    Target target(bench, 64 * 1024);
    ASSERT_TRUE(target.status) << target.status.text();
    const auto& heard = bench.inbox(1).signals;
    for (core::Token token = 1; token <= 300; ++token) {
      const auto source = pattern(token, token == 1 ? 0 : 1 + mix(token) % 1000);
      const Signal sent{static_cast<SignalSlot>(token % 100), 10 * token};
      const bool unwaited =
          token % 2 == 1 && source.size() <= bench.conduit(0).properties().max_inject_signal;
      const core::Post post = bench.insist([&] {
        return unwaited ? signal->put_signal_unwaited(1, target.key, 0, source, sent, token)
                        : signal->put_signal(1, target.key, 0, source, sent, token);
      });
      ASSERT_TRUE(bench.poll_until([&] { return heard.size() >= token; }));
      ASSERT_TRUE(holds(std::span(target.memory).first(source.size()), source))
          << "heard before it was there";
      ASSERT_EQ(heard.back().first, 0u);
      ASSERT_EQ(heard.back().second.slot, sent.slot);
      ASSERT_EQ(heard.back().second.add, sent.add);
      ASSERT_TRUE(ends(bench, post, token));
    }
    for (int i = 0; i < 100; ++i) bench.poll();
    EXPECT_EQ(heard.size(), 300u);
    bench.conduit(1).rma()->unregister_segment(0);
  });
}

TEST_P(Property, NativeSignalsToWordsChangeThemOnceEachAfterTheirBytes) {
  on_bench(2, [](ConduitBench& bench) {
    core::NativeSignal* signal = bench.conduit(0).signal();
    if (signal == nullptr || !signal->takes_words()) return;
    constexpr std::size_t kWordAt = 32 * 1024;  // behind the bytes
    Target target(bench, 64 * 1024);
    ASSERT_TRUE(target.status) << target.status.text();
    std::atomic_ref<std::uint64_t> word(
        *reinterpret_cast<std::uint64_t*>(std::span(target.memory).subspan(kWordAt).data()));
    std::uint64_t sum = word.load();
    for (core::Token token = 1; token <= 200; ++token) {
      const auto source = pattern(token, 1 + mix(token) % (token % 2 == 0 ? 200 : 20'000));
      const bool set = token % 10 == 0;
      const core::RemoteWord update{target.key, kWordAt, 10 * token, set ? SignalOp::set : SignalOp::add};
      sum = set ? 10 * token : sum + 10 * token;
      const core::Post post =
          bench.insist([&] { return signal->put_signal_word(1, target.key, 0, source, update, token); });
      ASSERT_TRUE(bench.poll_until([&] { return word.load() == sum; })) << "put " << token;
      ASSERT_TRUE(holds(std::span(target.memory).first(source.size()), source))
          << "the word changed before the bytes were there";
      ASSERT_TRUE(ends(bench, post, token));
    }
    for (int i = 0; i < 100; ++i) bench.poll();
    EXPECT_EQ(word.load(), sum);
    EXPECT_TRUE(bench.inbox(1).signals.empty()) << "a signal to a word is no signal to a counter";
    bench.conduit(1).rma()->unregister_segment(0);
  });
}

TEST_P(Property, MappedMemoryIsTheOwners) {
  on_bench(2, [](ConduitBench& bench) {
    core::CrossMap* owner = bench.conduit(1).cross_map();
    core::CrossMap* other = bench.conduit(0).cross_map();
    if (owner == nullptr) return;
    for (SegmentId id = 0; id < 3; ++id) {
      const std::size_t bytes = 1 + 5000 * id;
      auto memory = owner->allocate(id, bytes);
      ASSERT_TRUE(memory) << memory.status().text();
      ASSERT_EQ(memory->size(), bytes);
      EXPECT_TRUE(all_are(*memory, std::byte{0}));
      const auto key = owner->export_map(id, *memory, /*allocated=*/true);
      ASSERT_FALSE(key.empty());
      const auto mapped = other->map(1, key, bytes);
      ASSERT_TRUE(mapped) << mapped.status().text();
      const auto written = pattern(id, bytes);
      std::ranges::copy(written, *mapped);
      EXPECT_TRUE(holds(*memory, written));
      other->wake(1);
      other->unmap(1, *mapped);
      if (id != 1) owner->release(*memory);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(On, Property, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
