// Writes a corpus for udp_decode: real traffic from one connection to another, with and without faults.
//   build/fuzz/bin/udp_decode_corpus fuzz/corpus/udp_decode
#include "conduits/udp/tests/two_connections.hpp"
#include "fuzz/udp_decode_input.hpp"

#include <cstdio>
#include <fstream>
#include <string>

namespace {

using namespace aqueduct;
using namespace aqueduct::conduits::udp;
using namespace aqueduct::conduits::udp::connection_tests;

constexpr std::size_t kMostDatagrams = 6;  // per file
constexpr std::size_t kMostDatagram = 1200;

/// Writes what link a sends to link b, a few datagrams per file.
class Writer {
 public:
  Writer(std::string folder, std::string name) : path_(std::move(folder) + "/" + std::move(name)) {}
  ~Writer() { end(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void add(core::Bytes datagram, std::uint8_t how) {
    if (datagram.size() > kMostDatagram) return;  // MTU probes consist of padding
    fuzz::add_record(file_, how, datagram);
    if (++datagrams_ == kMostDatagrams) end();
  }

 private:
  void end() {
    if (datagrams_ == 0 || files_ == 4) return;
    std::ofstream out(path_ + "_" + std::to_string(files_++), std::ios::binary);
    out.write(reinterpret_cast<const char*>(file_.data()), static_cast<std::streamsize>(file_.size()));
    file_.clear();
    datagrams_ = 0;
  }
  std::string path_;
  Buffer file_;
  std::size_t datagrams_ = 0;
  int files_ = 0;
};

using Work = std::function<void(TwoConnections&)>;

void write(const std::string& folder, const std::string& name, const Faults& faults, const Work& work) {
  TwoConnections pair;
  pair.both(faults);
  pair.a.upper.segments = {Buffer(4096)};
  pair.b.upper.segments = {Buffer(4096)};
  Writer writer(folder, name);
  pair.on_sent = [&](const Station& from, core::Bytes datagram) {
    if (&from == &pair.a) writer.add(datagram, pair.now() / kMillisecond % 4 == 1 ? fuzz::Record::kWait : 0);
  };
  work(pair);
  pair.run(20 * kMillisecond);
  pair.say_farewell(pair.a);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: udp_decode_corpus FOLDER\n");
    return 2;
  }
  const std::string folder = arguments[1];
  static const Buffer bytes(4096, std::byte{5});
  static Buffer to(4096);
  const auto first = [](std::size_t size) { return core::Bytes(bytes).first(size); };
  const Signal signal{1, 2};
  const auto messages = [&](TwoConnections& pair) {
    for (const std::size_t size : {0ul, 3ul, 100ul, 900ul, 3000ul})
      (void)pair.a.connection->send({}, first(size));
  };
  const auto puts = [&](TwoConnections& pair) {
    for (const std::size_t size : {0ul, 8ul, 500ul, 1000ul, 3000ul}) {
      (void)pair.a.connection->put(0, 8, first(size), nullptr, size);
      (void)pair.a.connection->put(0, 16, first(size), &signal, size + 1);
    }
  };
  const auto gets = [&](TwoConnections& pair) {
    for (const std::size_t size : {1ul, 100ul, 3000ul})
      (void)pair.a.connection->get(0, 8, core::MutableBytes(to).first(size), size);
  };
  const auto replies = [&](TwoConnections& pair) {  // and acknowledgements
    for (const std::size_t size : {8ul, 100ul, 3000ul})
      (void)pair.b.connection->get(0, 8, core::MutableBytes(to).first(size), size);
    for (int i = 0; i < 20; ++i) (void)pair.b.connection->send({}, first(900));
  };
  const auto all = [&](TwoConnections& pair) {
    messages(pair);
    puts(pair);
    gets(pair);
    replies(pair);
  };
  const auto silence = [](TwoConnections& pair) { pair.run(2 * kSecond); };
  write(folder, "messages", {.mtu = 1400}, messages);
  write(folder, "puts", {.mtu = 1400}, puts);
  write(folder, "gets", {}, gets);
  write(folder, "replies", {.mtu = 1400}, replies);
  write(folder, "all", {.mtu = 1400}, all);
  write(folder, "loss", {.loss = 0.4, .mtu = 1400}, all);
  write(folder, "disorder", {.duplicate = 0.2, .reorder = 0.5, .mtu = 1400}, replies);
  write(folder, "silence", {}, silence);
  return 0;
}
