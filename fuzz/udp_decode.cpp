// Datagrams from a peer to a connection. Each input is a sequence of datagrams (udp_decode_input.hpp) for a connection
// that has puts, gets and messages in flight. In addition to the sanitizers' checks: each token ends exactly
// once, and all memory returns to its pool.
#include "conduits/udp/protocol/connection.hpp"
#include "fuzz/udp_decode_input.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

namespace {

using namespace aqueduct;
using namespace aqueduct::conduits::udp;

constexpr Rank kMe = 1;
constexpr Rank kPeer = 0;

void require(bool holds) {
  if (!holds) std::abort();
}

class CountingLayer final : public UpperLayer {
 public:
  std::map<core::Token, int> ends;
  std::vector<std::byte> memory = std::vector<std::byte>(4096);
  std::size_t sum = 0;

  bool ready(std::size_t messages, std::size_t bytes, std::size_t) noexcept override {
    require(bytes <= messages * kMostMessage);
    return true;
  }
  void message(Rank from, core::Bytes bytes) noexcept override {
    require(from == kPeer && bytes.size() <= kMostMessage);
    for (const std::byte one : bytes) sum += static_cast<std::size_t>(one);  // touches every byte
  }
  void completed(core::Token token, Status) noexcept override { ++ends[token]; }
  void signalled(Rank, Signal signal) noexcept override { sum += signal.add; }
  core::MutableBytes segment(std::uint32_t id) noexcept override {
    return id == 0 ? core::MutableBytes(memory) : core::MutableBytes{};
  }
  void refused(Rank from, const char*, std::uint32_t, std::uint64_t, std::size_t bytes) noexcept override {
    require(from == kPeer);
    sum += bytes;
  }
};

struct Bench {
  CountingLayer upper;
  Common common{upper, kMe, 77};
  Secret secret{};
  std::vector<std::byte> from = std::vector<std::byte>(20'000, std::byte{3});
  std::vector<std::byte> to = std::vector<std::byte>(20'000);
  core::Token tokens = 0;
  GsoBatch batch;
  std::unique_ptr<Connection> connection;
  Seal seal{Security::header, secret, common.secret, kPeer, kMe, common.job};
  Time now = kSecond;

  Bench() {
    common.security = Security::header;
    connection = std::make_unique<Connection>(common, kPeer, secret, now);
    serve();
    const Signal signal{1, 2};
    const auto bytes = core::Bytes(from);
    post(connection->put(0, 0, bytes.first(16), nullptr, tokens));
    post(connection->put(0, 0, bytes.first(64), &signal, tokens));
    post(connection->put(0, 0, bytes, &signal, tokens));
    post(connection->get(0, 0, core::MutableBytes(to).first(8), tokens));
    post(connection->get(0, 8, core::MutableBytes(to).subspan(8), tokens));
    (void)connection->send({}, bytes.first(100));
    (void)connection->send({}, bytes.first(5000));
    serve();
    (void)connection->send({}, bytes.first(7000));  // has to wait for room
  }
  void post(core::Post answer) { tokens += answer.kind == core::Post::Kind::posted ? 1 : 0; }
  void serve() {
    bool may_fragment = false;
    for (batch.clear(); connection->fill(now, batch, may_fragment); batch.clear()) require(!batch.empty());
    if (connection->fill_ping(now, batch)) batch.clear();
  }

  /// Changes the header such that the link looks at the frames.
  void fit(std::span<std::byte> datagram) {
    if (datagram.size() < sizeof(PacketHeader)) return;
    PacketHeader header;
    std::memcpy(&header, datagram.data(), sizeof header);
    const std::size_t rest = datagram.size() - sizeof header;
    header.magic = kMagic;
    header.version = kWireVersion;
    header.from = kPeer;
    header.to = kMe;
    header.frames = static_cast<std::uint16_t>(std::min<std::size_t>(header.frames, rest) & ~std::size_t{7});
    header.data = static_cast<std::uint16_t>(rest - header.frames);
    header.tag = 0;
    std::memcpy(datagram.data(), &header, sizeof header);
    header.tag = seal.tag(datagram.first(sizeof header + header.frames));
    std::memcpy(datagram.data(), &header, sizeof header);
  }
  void take(std::span<std::byte> datagram) {
    auto packet = parse_packet(datagram, 0);
    if (!packet) return;
    connection->receive(now, *packet, datagram);
    serve();
  }
  void wait(Time length) {
    now += length;
    if (connection->tick(now) != Connection::Liveness::alive) connection->fail({ErrorCode::peer_lost, kPeer});
    serve();
  }
  void end() {
    wait(kMillisecond);
    connection->fail({ErrorCode::peer_lost, kPeer});
    require(upper.ends.size() == tokens);
    for (const auto& [token, times] : upper.ends) require(token < tokens && times == 1);
    require(common.bundles.in_use() == 0 && common.long_messages.in_use() == 0 &&
            common.bulk_transfers.in_use() == 0);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bench bench;
  auto input = std::as_bytes(std::span(data, size));
  fuzz::Record record;
  while (input.size() >= sizeof record) {
    const auto bytes = fuzz::next_record(input, record);
    // Memory of exactly this length, so that the sanitizer finds reads beyond it.
    const auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
    const std::span<std::byte> datagram(copy.get(), bytes.size());
    std::copy(bytes.begin(), bytes.end(), datagram.begin());
    if ((record.how & fuzz::Record::kWait) != 0) bench.wait(kMillisecond);
    if ((record.how & fuzz::Record::kAsItIs) == 0) bench.fit(datagram);
    bench.take(datagram);
  }
  bench.end();
  return 0;
}
