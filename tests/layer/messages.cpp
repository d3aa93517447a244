// Raw messages: handlers by number, which differ between ranks; long requests that go on by themselves; order.

#include <aqueduct/am_raw.hpp>
#include <aqueduct/group.hpp>
#include <aqueduct/order.hpp>

#include "tests/layer/parts.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <vector>

namespace aqueduct::layer {
namespace {

constexpr std::uint8_t kAnswer = 3, kMedium = 77, kLong = 200, kLongAnswer = 201, kBehindFence = 255;
constexpr std::uint8_t kFirstOwn =
    100;  // a rank has the handler kFirstOwn + its number % 64, and none of the others'
constexpr std::uint8_t kLeave = 9;
constexpr std::size_t kMediumBytes = 500, kLongBytes = 200'000;

std::uint8_t own_number(Rank rank) { return static_cast<std::uint8_t>(kFirstOwn + rank % 64); }

/// The handlers of one rank, and what they have seen. They must go before this object does.
class Mailbox {
 public:
  Mailbox(Pe& pe, const Symmetric<std::byte>& area, const Symmetric<std::uint64_t>& behind)
      : from(pe.ranks()), pe_(pe), area_(area), behind_(behind) {
    const auto add = [&](std::uint8_t number, AmCategory category, auto body) {
      RawAccepts accepts;
      accepts.categories = RawAccepts::bit(category);
      numbers_.push_back(number);
      pe.report.need(pe.messages.add(number, body, accepts), "register a raw handler");
    };
    add(own_number(pe.me()), AmCategory::short_request, [this](RawContext& m) { short_request(m); });
    add(kAnswer, AmCategory::short_reply, [this](RawContext& m) {
      pe_.report.equal<std::uint32_t>(m.words()[0], m.source(), "the word of a short reply");
      ++answers;
    });
    add(kMedium, AmCategory::medium_request, [this](RawContext& m) {
      pe_.report.equal<std::size_t>(m.payload().size(), kMediumBytes, "bytes of a medium request");
      check_payload(m);
      ++mediums;
    });
    add(kLong, AmCategory::long_request, [this](RawContext& m) { long_request(m); });
    add(kLongAnswer, AmCategory::medium_reply, [this](RawContext& m) {
      check_payload(m);
      ++long_answers;
    });
    add(kBehindFence, AmCategory::short_request, [this](RawContext&) {
      pe_.report.equal<std::uint64_t>(behind_[0], 1 + pe_.previous(),
                                      "a put before the fence before a message");
      behind_fence = true;
    });
  }
  void remove() {
    for (const std::uint8_t number : numbers_)
      pe_.report.need(pe_.messages.remove(number), "remove a handler");
  }

  std::vector<unsigned> from;  // short requests of each rank
  unsigned answers = 0, mediums = 0, longs = 0, long_answers = 0;
  bool behind_fence = false;

 private:
  void short_request(RawContext& message) {
    ++from[message.source()];
    pe_.report.equal<std::uint16_t>(message.tag(), static_cast<std::uint16_t>(3 * message.source()), "a tag");
    pe_.report.equal<std::size_t>(message.words().size(), 16, "words of a short request");
    for (std::uint32_t i = 0; i < 16; ++i) {
      pe_.report.equal<std::uint32_t>(message.words()[i], 100 * message.source() + i, "a word", i);
    }
    const std::uint32_t word[] = {pe_.me()};
    pe_.report.need(message.reply_short({kAnswer, 0, word}), "reply_short");
  }
  void long_request(RawContext& message) {
    pe_.report.holds(message.payload().data() == area_.mine().data(),
                     "a long payload lies where it was sent to");
    pe_.report.equal<std::size_t>(message.payload().size(), kLongBytes, "bytes of a long request");
    check_payload(message);
    std::array<std::byte, 64> answer;
    fill_pattern(answer, pe_.me());
    pe_.report.need(message.reply_medium({kLongAnswer, 0, {}}, answer), "reply_medium");
    ++longs;
  }
  void check_payload(RawContext& message) {
    const Rank source = message.source();
    pe_.report.all(
        message.payload(), [=](std::size_t i) { return pattern(source, i); }, "the payload of a message");
  }

  Pe& pe_;
  Symmetric<std::byte> area_;
  Symmetric<std::uint64_t> behind_;
  std::vector<std::uint8_t> numbers_;
};

/// To every rank, this one included: the handler that only the target has.
void short_messages(Pe& pe, Mailbox& box) {
  std::array<std::uint32_t, 16> words;
  for (std::uint32_t i = 0; i < 16; ++i) words[i] = 100 * pe.me() + i;
  for (Rank i = 0; i < pe.ranks(); ++i) {
    const Rank to = (pe.me() + i) % pe.ranks();
    const RawCall call{own_number(to), static_cast<std::uint16_t>(3 * pe.me()), words};
    pe.report.need(pe.messages.request_short(to, call), "request_short");
    if (to == pe.me()) pe.report.equal<unsigned>(box.from[to], 0, "handlers that ran inside the call");
  }
  pe.wait_until([&] { return box.answers == pe.ranks(); }, "wait for the answers to short requests");
  pe.wait_until([&] { return std::ranges::count(box.from, 1u) == std::ssize(box.from); },
                "wait for short requests of all ranks");
}

/// One with a payload of the caller's, in a group, and one that is negotiated.
void medium_messages(Pe& pe, Mailbox& box) {
  std::vector<std::byte> mine(kMediumBytes);
  fill_pattern(mine, pe.me());
  Group group(pe.ep);
  AmOptions options;
  options.group = &group;
  pe.report.need(pe.messages.request_medium(pe.next(), {kMedium, 0, {}}, mine, options), "request_medium");
  pe.report.need(group.wait_source(), "wait for a medium payload");
  std::ranges::fill(mine, std::byte{0});
  auto room = prepare_medium(pe.ep, pe.next(), PayloadBounds{kMediumBytes, 2 * kMediumBytes, {}});
  pe.report.need(room.status(), "prepare_medium");
  fill_pattern(room->buffer().first(kMediumBytes), pe.me());
  pe.report.need(room->commit_raw(pe.messages, {kMedium, 0, {}}, kMediumBytes), "commit a medium request");
  pe.wait_until([&] { return box.mediums == 2; }, "wait for medium requests");
  pe.report.need(group.wait(), "the outcome of a group of messages");
}

void long_message(Pe& pe, Mailbox& box, const Symmetric<std::byte>& area) {
  std::vector<std::byte> mine(kLongBytes);
  fill_pattern(mine, pe.me());
  Event source;
  AmOptions options;
  options.source_event = &source;
  pe.report.need(pe.messages.request_long({kLong, 0, {}}, mine, area.on(pe.next()), options), "request_long");
  pe.wait_until([&] { return box.longs == 1 && box.long_answers == 1; },
                "wait for a long request that goes on by itself, and for its answer");
  pe.report.need(pe.ep.wait(source), "the source of a long request");
}

void message_behind_fence(Pe& pe, Mailbox& box, const Symmetric<std::uint64_t>& word) {
  pe.report.need(put_value_nbi(pe.ep, word.on(pe.next()), 1 + pe.me()), "put before a fence");
  pe.report.need(fence(pe.ep, pe.next()), "fence");
  pe.report.need(pe.messages.request_short(pe.next(), {kBehindFence, 0, {}}), "request behind a fence");
  pe.wait_until([&] { return box.behind_fence; }, "wait for a message behind a fence");
}

}  // namespace

void messages(Pe& pe) {
  const auto area = pe.heap.allocate<std::byte>(kLongBytes);
  const auto word = pe.heap.allocate<std::uint64_t>();
  Mailbox box(pe, area, word);
  pe.barrier();  // all ranks have their handlers
  short_messages(pe, box);
  medium_messages(pe, box);
  long_message(pe, box, area);
  message_behind_fence(pe, box, word);
  pe.barrier();  // nothing is sent any more
  box.remove();
}

void leave(Pe& pe, int code) {
  pe.report.begin("leave");
  const auto end = [&pe](RawContext& message) { pe.job.leave(static_cast<int>(message.words()[0])); };
  pe.report.need(pe.messages.add(kLeave, end), "register the handler that leaves");
  pe.barrier();
  const std::uint32_t words[] = {static_cast<std::uint32_t>(code)};
  if (pe.me() == 0) {
    pe.report.need(pe.messages.request_short(pe.ranks() - 1, {kLeave, 0, words}),
                   "ask the last rank to leave");
  }
  pe.wait_until([] { return false; }, "wait for the end of the job");
  std::abort();
}

}  // namespace aqueduct::layer
