#include "am/head.hpp"
#include "core/aside.hpp"
#include "rma/aside.hpp"
#include "rma/wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace aqueduct::rma {
namespace {

constexpr SegmentId kSegment = 2;

/// A rank's memory, and a conduit with or without room for answers.
struct AsideTest : testing::Test {
  alignas(8) std::uint64_t words[4] = {5, 0, 0, 0};
  core::AsideAnswers answers;
  core::Post::Kind room = core::Post::Kind::done;
  std::vector<AtomicResult> answered;
  std::vector<am::PacketHeader> headers;

  static std::vector<std::byte> request(const AtomicRequest& what, std::uint16_t credits = 0) {
    am::Head head({am::PacketKind::request, AmCategory::short_request, kAtomic, credits, sizeof what, 0, 0});
    head.append(&what, sizeof what);
    return {head.bytes().begin(), head.bytes().end()};
  }
  static AtomicRequest add(std::uint64_t offset, std::uint64_t operand) {
    return {77, offset, operand, 0, kSegment, AtomicOp::add, AtomicType::u64, 0};
  }
  core::Post::Kind send(Rank to, core::Bytes answer) {
    EXPECT_EQ(to, 3u);
    if (room == core::Post::Kind::retry) return room;
    am::PacketHeader header;
    AtomicResult result;
    EXPECT_EQ(answer.size(), sizeof header + sizeof result);
    std::memcpy(&header, answer.data(), sizeof header);
    std::memcpy(&result, answer.data() + sizeof header, sizeof result);
    headers.push_back(header);
    answered.push_back(result);
    return room;
  }
  /// Whether the packet was carried out; `packet` is then what the owner still gets.
  bool serve(std::vector<std::byte>& packet) {
    core::Bytes left = packet;
    const auto memory = [this](SegmentId id) {
      return id == kSegment ? core::MutableBytes(reinterpret_cast<std::byte*>(words), sizeof words)
                            : core::MutableBytes{};
    };
    const bool served =
        answers.serve(words_aside, 3, left, memory, [this](Rank to, core::Bytes a) { return send(to, a); });
    packet.assign(left.begin(), left.end());
    return served;
  }
};

TEST_F(AsideTest, DoesAnAtomicAndAnswersItWithItsCredit) {
  auto packet = request(add(0, 7));
  ASSERT_TRUE(serve(packet));
  EXPECT_TRUE(packet.empty()) << "nothing is left for the owner";
  EXPECT_EQ(words[0], 12u);
  ASSERT_EQ(answered.size(), 1u);
  EXPECT_EQ(answered[0].token, 77u);
  EXPECT_EQ(answered[0].old, 5u);
  EXPECT_EQ(answered[0].code, 0u);
  EXPECT_EQ(headers[0].kind, am::PacketKind::reply);
  EXPECT_EQ(headers[0].handler, kAtomicResult);
  EXPECT_EQ(headers[0].credits, 1u);
}

TEST_F(AsideTest, LeavesTheCreditsThatTheRequestBringsToTheOwner) {
  auto packet = request(add(8, 1), 9);
  ASSERT_TRUE(serve(packet));
  am::PacketHeader left;
  ASSERT_EQ(packet.size(), sizeof left);
  std::memcpy(&left, packet.data(), sizeof left);
  EXPECT_EQ(left.kind, am::PacketKind::credits);
  EXPECT_EQ(left.credits, 9u);
}

TEST_F(AsideTest, DoesItOnceThoughThereIsNoRoomForTheAnswer) {
  room = core::Post::Kind::retry;
  for (std::uint64_t i = 0; i < 100; ++i) {
    auto packet = request(add(0, 1));
    ASSERT_TRUE(serve(packet));
  }
  EXPECT_EQ(words[0], 105u);
  EXPECT_TRUE(answered.empty());
  ASSERT_FALSE(answers.empty());
  const auto again = [this](Rank to, core::Bytes answer) { return send(to, answer); };
  answers.send_again(again);
  EXPECT_FALSE(answers.empty());
  room = core::Post::Kind::done;
  answers.send_again(again);
  EXPECT_TRUE(answers.empty());
  ASSERT_EQ(answered.size(), 100u);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(answered[i].old, 5 + i);
  EXPECT_EQ(words[0], 105u);
}

/// A rank's words, and the answers to others' puts and gets of them.
struct AsideWordTest : testing::Test {
  alignas(8) std::byte memory[32] = {};
  core::AsideDone done;

  template <class T>
  static std::vector<std::byte> packet(AmCategory category, ReferenceHandler handler, const T& args,
                                       core::Bytes payload = {}) {
    am::Head head({am::PacketKind::request, category, handler, 0, sizeof args,
                   static_cast<std::uint32_t>(payload.size()), 0});
    head.append(&args, sizeof args);
    const core::Bytes front = head.bytes();
    std::vector<std::byte> bytes(front.size() + payload.size());
    std::ranges::copy(front, bytes.begin());
    std::ranges::copy(payload, bytes.begin() + static_cast<std::ptrdiff_t>(front.size()));
    return bytes;
  }
  static std::vector<std::byte> put(std::uint64_t offset, core::Bytes payload, std::uint64_t add = 0) {
    return packet(AmCategory::medium_request, kPut, PutPiece{77, offset, add, kSegment, 0}, payload);
  }
  static std::vector<std::byte> get(std::uint64_t offset, std::uint32_t bytes) {
    return packet(AmCategory::short_request, kGet, GetPiece{78, offset, 16, kSegment, bytes});
  }
  bool serve(const std::vector<std::byte>& bytes) {
    const auto find = [](const void* what, SegmentId id) noexcept -> core::MutableBytes {
      auto& self = *static_cast<AsideWordTest*>(const_cast<void*>(what));
      return id == kSegment ? core::MutableBytes(self.memory) : core::MutableBytes{};
    };
    return words_aside(bytes, find, this, done);
  }
  template <class T>
  T answer(std::size_t at) const {
    T value;
    std::memcpy(&value, done.answer.data() + at, sizeof value);
    return value;
  }
};

TEST_F(AsideWordTest, StoresAndLoadsWordsOfEachSize) {
  const std::byte sent[8] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                             std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};
  for (const std::size_t bytes : {1, 2, 4, 8}) {
    ASSERT_TRUE(serve(put(bytes, core::Bytes(sent, bytes)))) << bytes;
    EXPECT_EQ(std::memcmp(memory + bytes, sent, bytes), 0);
    const auto header = answer<am::PacketHeader>(0);
    EXPECT_EQ(header.kind, am::PacketKind::reply);
    EXPECT_EQ(header.category, AmCategory::short_reply);
    EXPECT_EQ(header.handler, kPutAck);
    EXPECT_EQ(header.credits, 1u);
    EXPECT_EQ(done.answer_bytes, sizeof header + sizeof(PutAck));
    EXPECT_EQ(answer<PutAck>(sizeof header).token, 77u);
    EXPECT_EQ(answer<PutAck>(sizeof header).code, 0u);

    ASSERT_TRUE(serve(get(bytes, static_cast<std::uint32_t>(bytes)))) << bytes;
    const auto got = answer<am::PacketHeader>(0);
    EXPECT_EQ(got.category, AmCategory::medium_reply);
    EXPECT_EQ(got.handler, kGetData);
    EXPECT_EQ(got.payload_bytes, bytes);
    EXPECT_EQ(done.answer_bytes, sizeof got + sizeof(GetData) + bytes);
    EXPECT_EQ(answer<GetData>(sizeof got).token, 78u);
    EXPECT_EQ(answer<GetData>(sizeof got).at, 16u);
    EXPECT_EQ(std::memcmp(done.answer.data() + sizeof got + sizeof(GetData), sent, bytes), 0);
    EXPECT_EQ(core::header_of_answer({done.answer.data(), done.answer_bytes}).size() % 8, 0u);
  }
}

TEST_F(AsideWordTest, LeavesAllOtherPutsAndGetsToTheOwner) {
  const std::byte sent[16] = {std::byte{1}};
  EXPECT_FALSE(serve(put(0, core::Bytes(sent, 16)))) << "more than a word";
  EXPECT_FALSE(serve(put(0, core::Bytes(sent, 3)))) << "no word";
  EXPECT_FALSE(serve(put(4, core::Bytes(sent, 8)))) << "misaligned";
  EXPECT_FALSE(serve(put(0, {}))) << "no bytes";
  EXPECT_FALSE(serve(put(sizeof memory, core::Bytes(sent, 8)))) << "outside";
  EXPECT_FALSE(serve(put(~std::uint64_t{0} - 7, core::Bytes(sent, 8)))) << "outside, wrapping around";
  EXPECT_FALSE(serve(put(0, core::Bytes(sent, 8), /*add=*/1))) << "with a signal";
  EXPECT_FALSE(serve(get(0, 16)));
  EXPECT_FALSE(serve(get(0, 0)));
  EXPECT_FALSE(serve(get(2, 4)));
  EXPECT_FALSE(serve(get(sizeof memory, 1)));
  auto shorter = put(0, core::Bytes(sent, 8));
  shorter.pop_back();
  EXPECT_FALSE(serve(shorter));
  for (const std::byte byte : memory) EXPECT_EQ(byte, std::byte{0});
}

TEST_F(AsideTest, LeavesWhatItDoesNotUnderstandToTheOwner) {
  const auto stays = [this](std::vector<std::byte> packet) {
    const auto before = packet;
    return !serve(packet) && packet == before;
  };
  AtomicRequest elsewhere = add(0, 1);
  elsewhere.segment = 1;
  EXPECT_TRUE(stays(request(elsewhere)));
  EXPECT_TRUE(stays(request(add(sizeof words, 1))));
  EXPECT_TRUE(stays(request(add(sizeof words - 4, 1))));
  EXPECT_TRUE(stays(request(add(~std::uint64_t{0}, 1))));
  EXPECT_TRUE(stays(request(add(4, 1)))) << "misaligned";
  AtomicRequest odd = add(0, 1);
  odd.op = static_cast<AtomicOp>(11);
  EXPECT_TRUE(stays(request(odd)));
  odd = add(0, 1);
  odd.type = static_cast<AtomicType>(6);
  EXPECT_TRUE(stays(request(odd)));
  auto packet = request(add(0, 1));
  EXPECT_TRUE(stays({packet.begin(), packet.end() - 8}));
  EXPECT_TRUE(stays({}));
  auto reply = packet;
  reply[0] = static_cast<std::byte>(am::PacketKind::reply);
  EXPECT_TRUE(stays(reply));
  auto other = packet;
  other[offsetof(am::PacketHeader, handler)] = std::byte{kPut};
  EXPECT_TRUE(stays(other));
  EXPECT_EQ(words[0], 5u);
  EXPECT_TRUE(answered.empty());
}

}  // namespace
}  // namespace aqueduct::rma
