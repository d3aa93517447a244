#include "tests/conformance/pattern.hpp"
#include "tests/conformance/property.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::conformance {
namespace {

TEST_P(Property, SendBeforeSendMeansThatPacketsComeInOrder) {
  on_bench(2, [](ConduitBench& bench) {
    if (!bench.conduit(0).properties().send_before_send) return;
    const auto& packets = bench.inbox(1).packets;
    const std::size_t most = bench.conduit(0).properties().max_packet - sizeof(std::uint64_t);
    std::vector<std::vector<std::byte>> payloads;  // a conduit may read them until the completion
    for (std::uint64_t number = 0; number < 500; ++number) {
      // Short and long ones in turns: a long one takes longer.
      const auto& payload = payloads.emplace_back(
          pattern(number, number % 3 == 0 ? std::min<std::size_t>(most, 4000) : number % 50));
      bench.insist([&] {
        return bench.conduit(0).send(1, std::as_bytes(std::span(&number, 1)), payload, number + 1);
      });
    }
    ASSERT_TRUE(bench.poll_until([&] { return packets.size() >= 500; }));
    for (std::uint64_t number = 0; number < 500; ++number) {
      std::uint64_t arrived = 0;
      ASSERT_GE(packets[number].bytes.size(), sizeof arrived);
      std::memcpy(&arrived, packets[number].bytes.data(), sizeof arrived);
      ASSERT_EQ(arrived, number) << "a packet overtook another one";
    }
  });
}

TEST_P(Property, PutBeforePutMeansThatTheLaterBytesComeLater) {
  on_bench(2, [](ConduitBench& bench) {
    core::NativeRma* const rma = bench.conduit(0).rma();
    const core::Properties& properties = bench.conduit(0).properties();
    if (rma == nullptr || !properties.put_before_put) return;
    Target target(bench, 64 * 1024);
    ASSERT_TRUE(target.status) << target.status.text();
    const std::size_t most =
        std::min({properties.max_transfer, properties.max_ordered, std::size_t{60} << 10});
    constexpr std::uint64_t kFlag = 64 * 1024 - 8;
    for (core::Token token = 1; token <= 300; ++token) {
      const auto source = pattern(token, 1 + mix(token) % most);
      const std::uint64_t flag = token;
      const core::Post put =
          bench.insist([&] { return rma->put(1, target.key, 0, source, false, 2 * token); });
      const core::Post later = bench.insist([&] {
        return rma->put(1, target.key, kFlag, std::as_bytes(std::span(&flag, 1)), false, 2 * token + 1);
      });
      const auto there = [&] {
        std::uint64_t seen = 0;
        detail::copy_word(&seen, target.memory.data() + kFlag, sizeof seen);
        return seen == flag;
      };
      ASSERT_TRUE(bench.poll_until(there));
      ASSERT_TRUE(holds(std::span(target.memory).first(source.size()), source))
          << "overtaken by the later put";
      ASSERT_TRUE(ends(bench, put, 2 * token));
      ASSERT_TRUE(ends(bench, later, 2 * token + 1));
    }
    bench.conduit(1).rma()->unregister_segment(0);
  });
}

}  // namespace
}  // namespace aqueduct::conformance
