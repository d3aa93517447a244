#pragma once

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "tests/support/known_packets.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// The input of am_packets and vis_packets: packets from a peer to a rank that has operations in flight with it.
namespace aqueduct::fuzz {

struct PacketRecord {
  static constexpr std::uint8_t kAsItIs =
      1;  ///< the bytes are the packet; else a header is put in front of them
  static constexpr std::uint8_t kProgress = 2;  ///< the rank makes progress before the packet
  /// Head and payload come apart. The bits above: the length of the head, in words of 8 bytes.
  static constexpr std::uint8_t kApart = 4;
  static constexpr unsigned kHeadWords = 3;  ///< the first of these bits

  std::uint8_t how = 0;
  std::uint8_t handler = 0;  ///< index in the list of handlers of the target
  std::uint16_t bytes = 0;   ///< length of what follows
};

inline void require_packets(bool holds) {
  if (!holds) std::abort();
}

/// Rank 0 of two. It communicates with a rank 1 that does not exist.
class Talk {
 public:
  static constexpr HandlerId kUsers = am::kFirstUserHandler;
  static constexpr const char* kSpace = "fuzz";
  static constexpr std::uint8_t kRaw = 7;

  Talk() {
    Config config;
    for (const auto& [name, value] : {std::pair{"conduit", "loop"},
                                      {"near", "off"},
                                      {"segment_bytes", "4K"},
                                      {"operations", "16"},
                                      {"handlers", "8"},
                                      {"prepared", "1"},
                                      {"credits", "8"},
                                      {"signals", "8"},
                                      {"coll_counters", "1024"},
                                      {"coll_scratch", "64K"},
                                      {"loop_queue", "12"},
                                      {"vis_plan", "packed"},
                                      {"log", "off"}})
      require_packets(config.set(name, value).ok());
    auto made = Job::in_process(2, config);
    require_packets(made.ok());
    job_.emplace(std::move(*made));
    Endpoint& ep = me();
    const auto sum = [this](std::span<std::byte> payload) {
      for (const std::byte one : payload) sum_ += static_cast<std::size_t>(one);  // touches every byte
    };
    const auto reply = on_short_reply<std::uint64_t>(ep, [](auto&, const auto&) {});
    require_packets(reply.ok());
    const auto answered = [sum, reply = *reply](auto& context, const auto& args, auto payload) {
      sum(payload);
      static_cast<void>(context.reply(reply, args));
    };
    require_packets(on_short_request<std::uint64_t>(ep, [](auto&, const auto&) {}).ok());
    require_packets(on_medium_request<std::uint64_t>(ep, answered).ok());
    const auto long_one = on_long_request<std::uint64_t>(ep, answered);
    require_packets(long_one.ok());
    auto space = HandlerSpace::create(ep, kSpace);
    require_packets(space.ok());
    require_packets(space
                        ->add(kRaw,
                              [sum](RawContext& message) {
                                sum(message.payload());
                                auto prepared = message.prepare_medium({0, message.payload().size()});
                                if (prepared)
                                  static_cast<void>(prepared->commit_raw({0, message.tag(), message.words()},
                                                                         prepared->size()));
                                static_cast<void>(message.reply_short({0}));
                              })
                        .ok());
    begin();
    // A long request that travels as a put, and leaves when the put is answered.
    events_.emplace_back();
    require_packets(request(ep, *long_one, 1, std::span<const std::byte>(from_), GlobalPtr<std::byte>{1, 8},
                            {.source_event = &events_.back()})
                        .ok());
  }

  Endpoint& me() { return job_->endpoint(0); }
  void say(std::span<const std::byte> packet) { me().state().messages->packet(1, packet); }
  void say(const test::PacketApart& packet) {
    me().state().messages->packet_in_parts(1, packet.head(), packet.payload());
  }

  /// Declares rank 1 lost: every operation has to end, once.
  void end() {
    detail::EndpointState& state = me().state();
    require_packets(state.messages->credits_left(1) <= state.messages->credits_per_peer());
    me().progress();
    state.peer_lost(1);
    for (int i = 0; i < 4; ++i) me().progress();
    for (Event& event : events_) {
      require_packets(event.done());
      static_cast<void>(event.status());
    }
    require_packets(me().test_implicit());
    events_.clear();
    require_packets(state.ops.in_flight() == 0);
  }

 private:
  // Begins some operations that wait for answers, and more that wait for room.
  void begin() {
    Endpoint& ep = me();
    const GlobalPtr<std::byte> there{1, 8};
    const auto strided = [&](std::uint64_t count) { return pieces(there, Strided(8, {{count, 16}})); };
    const auto from = std::span<const std::byte>(from_);
    events_.push_back(put_nb(ep, there, from.first(8)));
    events_.push_back(get_nb(ep, std::span(to_).first(700), there));
    events_.push_back(atomic_nb<AtomicOp::add>(ep, GlobalPtr<std::uint64_t>{1, 0}, 3, &old_));
    events_.push_back(signal_nb(ep, 1, {1, 2}));
    events_.push_back(put_nb(ep, strided(40), contiguous(from_.data(), 320)));
    events_.push_back(get_nb(ep, contiguous(to_.data() + 700, 320), strided(40)));
    static_cast<void>(put_nbi(ep, there, from.first(3000)));
    events_.push_back(get_nb(ep, contiguous(to_.data() + 1020, 1600), strided(200)));
    events_.push_back(put_nb(ep, strided(200), contiguous(from_.data(), 1600)));
  }

  std::vector<std::byte> from_ = std::vector<std::byte>(3000, std::byte{3});
  std::vector<std::byte> to_ = std::vector<std::byte>(4000);
  std::uint64_t old_ = 0;
  std::size_t sum_ = 0;
  std::optional<Job> job_;
  std::vector<Event> events_;
};

/// Runs an input whose packets are for these handlers.
inline int run_packets(const std::uint8_t* data, std::size_t size,
                       std::span<const test::KnownHandler> handlers) {
  Talk talk;
  auto input = std::as_bytes(std::span(data, size));
  PacketRecord record;
  while (input.size() >= sizeof record) {
    std::memcpy(&record, input.data(), sizeof record);
    input = input.subspan(sizeof record);
    const auto bytes = input.first(record.bytes < input.size() ? record.bytes : input.size());
    input = input.subspan(bytes.size());
    if ((record.how & PacketRecord::kProgress) != 0) talk.me().progress();
    const test::ExactPacket packet =
        (record.how & PacketRecord::kAsItIs) != 0
            ? test::exact_copy(bytes)
            : test::packet_for(handlers[record.handler % handlers.size()], bytes);
    if ((record.how & PacketRecord::kApart) == 0) {
      talk.say(packet.bytes());
      continue;
    }
    const std::size_t head = std::size_t{8} * (record.how >> PacketRecord::kHeadWords);
    talk.say(test::PacketApart(packet.bytes(), std::min(head, packet.size)));
  }
  talk.end();
  return 0;
}

}  // namespace aqueduct::fuzz
