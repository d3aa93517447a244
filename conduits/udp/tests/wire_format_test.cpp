// docs/wire-format.md agrees with wire.hpp.
#include "conduits/udp/protocol/received_packets.hpp"
#include "conduits/udp/protocol/seal.hpp"
#include "conduits/udp/protocol/sent_packets.hpp"
#include "conduits/udp/protocol/wire.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace aqueduct::conduits::udp {
namespace {

using Row = std::vector<std::string>;

std::vector<std::string> lines_of_document() {
  std::ifstream file(AQUEDUCT_SOURCE_DIR "/docs/wire-format.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" `");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" `") - first + 1);
}

/// The rows of the first table below this heading, without the two header lines.
std::vector<Row> table(const std::string& heading) {
  static const std::vector<std::string> lines = lines_of_document();
  std::vector<Row> rows;
  bool found = false;
  for (const std::string& line : lines) {
    if (!found) {
      found = line == heading;
      continue;
    }
    if (line.empty() || line[0] != '|') {
      if (!rows.empty() || line.starts_with('#')) break;
      continue;
    }
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed(cell));
    rows.push_back(row);
  }
  if (rows.size() < 2) return {};
  return {rows.begin() + 2, rows.end()};
}

/// The meaning of a field: the last column of its row, up to the first ';'. Empty: there is no such row.
std::string value_of(const std::string& heading, const std::string& field) {
  for (const Row& row : table(heading)) {
    if (row.size() == 4 && row[2] == field) return trimmed(row[3].substr(0, row[3].find(';')));
  }
  return "";
}

struct Field {
  std::string name;
  std::size_t offset;
  std::size_t bytes;
};

template <class Structure, class Type>
Field field(const std::string& name, Type Structure::*member) {
  static_assert(std::is_standard_layout_v<Structure>);
  const Structure one{};
  const auto* begin = reinterpret_cast<const char*>(&one);
  const auto* at = reinterpret_cast<const char*>(&(one.*member));
  return {name, static_cast<std::size_t>(at - begin), sizeof(Type)};
}

template <class Structure>
void expect_documented(const std::string& name, const std::vector<Field>& fields, int kind = 0) {
  SCOPED_TRACE(name);
  const auto rows = table("### `" + name + "`, " + std::to_string(sizeof(Structure)) + " bytes");
  ASSERT_EQ(rows.size(), fields.size());
  std::size_t end = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Field& field = fields[i];
    EXPECT_EQ(field.offset, end) << field.name;  // no padding, whose contents would be sent
    end += field.bytes;
    ASSERT_EQ(rows[i].size(), 4u);
    EXPECT_EQ(rows[i][0], std::to_string(field.offset)) << field.name;
    EXPECT_EQ(rows[i][1], std::to_string(field.bytes)) << field.name;
    EXPECT_EQ(rows[i][2], field.name);
  }
  EXPECT_EQ(end, sizeof(Structure));
  if (kind != 0) {
    const Structure one{};
    EXPECT_EQ(*reinterpret_cast<const unsigned char*>(&one), kind);
    EXPECT_EQ(rows[0][3], std::to_string(kind));
  }
}

TEST(UdpWireFormat, HeaderIsAsDocumented) {
  using T = PacketHeader;
  expect_documented<T>(
      "PacketHeader",
      {field("magic", &T::magic), field("version", &T::version), field("kind", &T::kind),
       field("from", &T::from), field("to", &T::to), field("attempt", &T::attempt), field("flags", &T::flags),
       field("zero", &T::zero), field("number", &T::number), field("stamp", &T::stamp),
       field("frames", &T::frames), field("data", &T::data), field("tag", &T::tag)});
}

// Looks up each value in its own row: elsewhere the same number may mean something else.
TEST(UdpWireFormat, ValuesInTheTablesAreTheCodes) {
  const auto number = [](auto value) { return std::to_string(value); };
  const std::string header = "### `PacketHeader`, " + number(sizeof(PacketHeader)) + " bytes";
  EXPECT_EQ(value_of(header, "version"), number(kWireVersion));
  EXPECT_EQ(lines_of_document().at(0), "# The udp conduit's wire format, version " + number(kWireVersion));
  EXPECT_EQ(std::stoul(value_of(header, "magic"), nullptr, 16), kMagic);
  EXPECT_EQ(value_of(header, "flags"), number(kImmediateAck) + ": acknowledge at once, somebody waits");
  EXPECT_EQ(value_of("### `AckFrame`, " + number(sizeof(AckFrame)) + " bytes", "ranges"),
            "how many `AckRange` follow: 0 to " + number(kMostAckRanges));
  EXPECT_EQ(value_of("### `MessageFrame`, " + number(sizeof(MessageFrame)) + " bytes", "flags"),
            number(kBulk) + ": long");
  EXPECT_EQ(value_of("### `PutFrame`, " + number(sizeof(PutFrame)) + " bytes", "flags"),
            number(kBulk) + ": bulk, " + number(kSignal) + ": signal, " + number(kToWord) + ": word, " +
                number(kSetsWord) + ": set");
  EXPECT_EQ(value_of("### `DataFrame`, " + number(sizeof(DataFrame)) + " bytes", "flags"),
            number(kBulk) + ": bulk");
}

TEST(UdpWireFormat, AcknowledgementIsAsDocumented) {
  using T = AckFrame;
  expect_documented<T>("AckFrame",
                       {field("kind", &T::kind), field("ranges", &T::ranges), field("delay", &T::delay),
                        field("echo", &T::echo), field("next", &T::next), field("window", &T::window),
                        field("duplicates", &T::duplicates)},
                       1);
  expect_documented<AckRange>("AckRange", {field("skip", &AckRange::skip), field("count", &AckRange::count)});
}

TEST(UdpWireFormat, MessagesAreAsDocumented) {
  using M = MessageFrame;
  expect_documented<M>("MessageFrame",
                       {field("kind", &M::kind), field("flags", &M::flags), field("zero", &M::zero),
                        field("bytes", &M::bytes)},
                       2);
  using F = FragmentFrame;
  expect_documented<F>("FragmentFrame",
                       {field("kind", &F::kind), field("zero", &F::zero), field("bytes", &F::bytes),
                        field("message", &F::message), field("total", &F::total), field("offset", &F::offset),
                        field("zero2", &F::zero2)},
                       3);
}

TEST(UdpWireFormat, PutsAndGetsAreAsDocumented) {
  using P = PutFrame;
  expect_documented<P>(
      "PutFrame",
      {field("kind", &P::kind), field("flags", &P::flags), field("zero", &P::zero), field("bytes", &P::bytes),
       field("segment", &P::segment), field("transfer", &P::transfer), field("offset", &P::offset)},
      4);
  using S = SignalPart;
  expect_documented<S>("SignalPart",
                       {field("slot", &S::slot), field("total", &S::total), field("add", &S::add)});
  using W = WordPart;
  expect_documented<W>("WordPart", {field("offset", &W::offset)});
  using G = GetFrame;
  expect_documented<G>(
      "GetFrame",
      {field("kind", &G::kind), field("zero", &G::zero), field("bytes", &G::bytes),
       field("segment", &G::segment), field("transfer", &G::transfer), field("offset", &G::offset)},
      5);
  using D = DataFrame;
  expect_documented<D>(
      "DataFrame",
      {field("kind", &D::kind), field("flags", &D::flags), field("zero", &D::zero), field("bytes", &D::bytes),
       field("transfer", &D::transfer), field("offset", &D::offset)},
      6);
}

TEST(UdpWireFormat, TheLinksOwnFramesAreAsDocumented) {
  expect_documented<CloseFrame>("CloseFrame",
                                {field("kind", &CloseFrame::kind), field("zero", &CloseFrame::zero)}, 7);
  using P = ProbeFrame;
  expect_documented<P>("ProbeFrame",
                       {field("kind", &P::kind), field("zero", &P::zero), field("bytes", &P::bytes)}, 8);
  using U = UpdateFrame;
  expect_documented<U>(
      "UpdateFrame",
      {field("kind", &U::kind), field("op", &U::op), field("type", &U::type), field("zero", &U::zero),
       field("segment", &U::segment), field("offset", &U::offset), field("operand", &U::operand)},
      9);
}

template <class Kind>
void expect_kinds(const std::string& name, const std::vector<std::pair<Kind, std::string>>& kinds) {
  const auto rows = table("### `" + name + "`");
  ASSERT_EQ(rows.size(), kinds.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], std::to_string(static_cast<int>(kinds[i].first)));
    EXPECT_EQ(rows[i][1], kinds[i].second);
  }
}

TEST(UdpWireFormat, KindsAreAsDocumented) {
  using P = PacketKind;
  expect_kinds<P>("PacketKind", {{P::data, "data"},
                                 {P::control, "control"},
                                 {P::ping, "ping"},
                                 {P::probe, "probe"},
                                 {P::probe_answer, "probe_answer"}});
  using F = FrameKind;
  expect_kinds<F>("FrameKind", {{F::ack, "ack"},
                                {F::message, "message"},
                                {F::fragment, "fragment"},
                                {F::put, "put"},
                                {F::get, "get"},
                                {F::data, "data"},
                                {F::close, "close"},
                                {F::probe, "probe"},
                                {F::update, "update"}});
}

TEST(UdpWireFormat, NumbersInTheTextAreTheCodes) {
  std::string text;
  for (const std::string& line : lines_of_document()) text += line + ' ';
  const auto says = [&](const std::string& what) { return text.find(what) != std::string::npos; };
  const auto number = [](auto value) { return std::to_string(value); };
  EXPECT_TRUE(says("in units of " + number(1 << kStampShift) + " ns"));
  EXPECT_TRUE(says("at most " + number(kMostMessage)));
  EXPECT_TRUE(says("of a long one " + number(kGuarded) + " bytes"));
  EXPECT_TRUE(says("data numbers up to " + number(ReceivedPackets::kSpan) + " above"));
  EXPECT_TRUE(says("at most " + number(SentPackets::kMost) + " data packets unacknowledged"));
  EXPECT_TRUE(says("datagram's bytes and " + number(kPacketCharge) + " more"));
  EXPECT_TRUE(says(number(Seal::kTrailer) + " bytes with full security"));
}

}  // namespace
}  // namespace aqueduct::conduits::udp
