// Writes the corpora of am_packets and vis_packets: valid packets of each kind, alone and together.
//   build/fuzz/bin/packets_corpus fuzz/corpus
#include "fuzz/packets.hpp"
#include "vis/describe.hpp"
#include "vis/survey.hpp"

#include <fstream>
#include <string>

namespace {

using namespace aqueduct;
using Bytes = std::vector<std::byte>;

template <class T>
void add(Bytes& to, const T& value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), at, at + sizeof value);
}

template <class Args>
Bytes record(std::uint8_t handler, const Args& args, std::size_t payload, std::uint8_t how = 0) {
  Bytes body;
  add(body, args);
  body.resize(am::padded(sizeof args) + payload, std::byte{5});
  Bytes all;
  add(all, fuzz::PacketRecord{how, handler, static_cast<std::uint16_t>(body.size())});
  all.insert(all.end(), body.begin(), body.end());
  return all;
}

void write(const std::string& folder, const std::string& name, const std::vector<Bytes>& records) {
  std::ofstream out(folder + "/" + name, std::ios::binary);
  for (const Bytes& one : records)
    out.write(reinterpret_cast<const char*>(one.data()), static_cast<std::streamsize>(one.size()));
}

/// A packet of pieces: every second 8 bytes.
Bytes pieces_record(std::uint8_t handler, std::uint64_t count, std::uint8_t type, core::Token token) {
  const Strided shape(8, {{count, 16}});
  const vis::Survey found = vis::survey(shape.shape);
  vis::Cursor cursor(shape.shape, found.bytes);
  std::byte text[512];
  const auto said = vis::describe_pieces(shape.shape, found.bytes, cursor, {sizeof text, 512, 900, 1}, text);
  vis::PackedRequest request{};
  request.token = token;
  request.data_bytes = static_cast<std::uint32_t>(said.data);
  request.description = said.bytes;
  request.form = said.form;
  request.type = type;
  Bytes all = record(handler, request, 0);
  Bytes behind(text, text + said.bytes);
  if (handler == 0) {
    behind.resize(am::padded(said.bytes));
    behind.resize(behind.size() + said.data, std::byte{6});
  }
  all.insert(all.end(), behind.begin(), behind.end());
  const fuzz::PacketRecord head{0, handler,
                                static_cast<std::uint16_t>(all.size() - sizeof(fuzz::PacketRecord))};
  std::memcpy(all.data(), &head, sizeof head);
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string am = std::string(arguments[1]) + "/am_packets";
  const std::string vis = std::string(arguments[1]) + "/vis_packets";
  const auto token = [](std::uint64_t index) { return std::uint64_t{1} << 32 | index; };
  // In the order of am_packets: the layers' handlers, then the user's; below, raw messages and the handlers of calls.
  const std::vector<Bytes> all{
      record(0, rma::PutPiece{token(0), 8, 3, 0, 1}, 64),
      record(1, rma::PutAck{token(0), 0}, 0),
      record(2, rma::GetPiece{token(1), 16, 0, 0, 200}, 0),
      record(3, rma::GetData{token(1), 0, 0}, 700),
      record(4, rma::AtomicRequest{token(2), 8, 1, 2, 0, AtomicOp::add, AtomicType::u64, 0}, 0),
      record(5, rma::AtomicResult{token(2), 9, 0}, 0),
      record(6, rma::SignalRequest{token(3), 4, 1, 0}, 0),
      record(7, coll::Arrival{0, 1, 0, 0, 0, 0}, 0),
      record(8, coll::ExchangePiece{0, 1, 0, 0, 0, 32}, 32),
      record(8, coll::ExchangePiece{0, 2, 0, 10, 1, 0}, 0),
      record(9, rma::PutWordPiece{token(0), 8, 0, 0, 128, 5, SignalOp::add, {}}, 64),
      record(10, std::uint64_t{1}, 0),
      record(11, std::uint64_t{2}, 0),
      record(12, std::uint64_t{3}, 40),
      record(13, std::array<std::uint64_t, 4>{8, 40, 0, 4}, 40),
  };
  std::vector<Bytes> raw;
  for (std::uint8_t handler = 14; handler < 21; ++handler) {
    const bool is_long = handler == 16 || handler == 19;
    raw.push_back(is_long ? record(handler, std::array<std::uint64_t, 4>{8, 40, 0, 4}, 40)
                          : record(handler, std::uint64_t{5}, 24));
  }
  for (std::size_t i = 0; i < raw.size(); ++i) write(am, "raw_" + std::to_string(i), {raw[i]});
  write(am, "raw", raw);
  coll::CallDescription call;
  call.operation = Collective::broadcast;
  call.bytes = 64;
  const std::vector<Bytes> calls{record(21, coll::AbortedCall{0, 1, call}, 0),
                                 record(22, coll::CallQuestion{0, 1}, 0),
                                 record(23, coll::CallAnswer{0, 1, call}, 0)};
  for (std::size_t i = 0; i < calls.size(); ++i) write(am, "calls_" + std::to_string(i), {calls[i]});
  write(am, "calls", calls);
  for (std::size_t i = 0; i < all.size(); ++i) write(am, "one_" + std::to_string(i), {all[i]});
  write(am, "all", all);
  write(am, "as_it_is",
        {record(0, am::PacketHeader{am::PacketKind::credits, AmCategory::short_reply, 0, 3, 0, 0, 0}, 0,
                fuzz::PacketRecord::kAsItIs)});
  // Apart: medium and long messages of the user's, cut where the head ends, before it and behind it.
  std::vector<Bytes> apart;
  for (const std::uint8_t words : {3, 2, 4, 5, 6}) {
    const auto how =
        static_cast<std::uint8_t>(fuzz::PacketRecord::kApart | words << fuzz::PacketRecord::kHeadWords);
    apart.push_back(record(12, std::uint64_t{3}, 40, how));
    apart.push_back(record(13, std::array<std::uint64_t, 4>{8, 40, 0, 4}, 40, how));
    apart.push_back(record(3, rma::GetData{token(1), 0, 0}, 700, how));
  }
  write(am, "apart", apart);
  std::vector<Bytes> many;
  for (int i = 0; i < 30; ++i) many.push_back(all[2]);
  write(am, "many_requests", many);

  const std::vector<Bytes> pieces{
      pieces_record(0, 40, 0, token(4)),      pieces_record(0, 40, 4, token(4)),
      pieces_record(1, 40, 0, token(5)),      record(2, vis::PackedData{token(5), 0, 0}, 320),
      record(3, rma::PutAck{token(4), 0}, 0), record(4, rma::GetData{token(1), 0, 0}, 700),
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) write(vis, "one_" + std::to_string(i), {pieces[i]});
  write(vis, "all", pieces);
  return 0;
}
