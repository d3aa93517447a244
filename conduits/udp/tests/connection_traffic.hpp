#pragma once

#include "conduits/udp/tests/two_connections.hpp"

#include <gtest/gtest.h>

#include <array>

namespace aqueduct::conduits::udp::connection_tests {

/// Messages, puts, puts with signals and gets of all sizes from one end to the other, in random order. Each must
/// complete once, with the right bytes in place at that moment. `check` reports what went wrong.
class Traffic {
 public:
  Traffic(TwoConnections& pair, Station& from, std::uint64_t seed, std::size_t operations)
      : from_(from), to_(pair.other(from)), seed_(seed) {
    std::mt19937_64 dice(seed);
    const auto pick = [&](const auto& sizes) { return sizes[dice() % sizes.size()]; };
    std::size_t put_bytes = 0;
    std::size_t get_bytes = 0;
    for (std::size_t i = 0; i < operations; ++i) {
      Operation one;
      one.kind = static_cast<Kind>(dice() % 4);
      one.bytes = one.kind == Kind::message ? pick(kMessages)
                  : one.kind == Kind::get   ? pick(kGets)
                                            : pick(kPuts);
      std::size_t& used = one.kind == Kind::get ? get_bytes : put_bytes;
      one.offset = used;
      if (one.kind != Kind::message) used += one.bytes;
      one.memory = one.kind == Kind::get ? Buffer(one.bytes) : pattern(i, one.bytes);
      all_.push_back(std::move(one));
    }
    to_.upper.segments.resize(2);
    to_.upper.segments[0].assign(put_bytes, std::byte{0});
    to_.upper.segments[1].assign(get_bytes, std::byte{0});
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].kind != Kind::get) continue;
      const Buffer bytes = pattern(i, all_[i].bytes);
      std::copy(bytes.begin(), bytes.end(), at(to_.upper.segments[1], all_[i].offset));
    }
    from_.upper.on_completed = [this](core::Token token, Status status) { completed(token, status); };
    to_.upper.on_message = [this](core::Bytes bytes) { arrived(bytes); };
    to_.upper.on_signalled = [this](Signal signal) { signalled(signal); };
  }

  /// Posts operations until there is no room.
  void post() {
    for (; next_ < all_.size(); ++next_) {
      const core::Post answer = post(next_);
      if (answer.kind == core::Post::Kind::retry) return;
      if (answer.kind == core::Post::Kind::failed) note("refused", next_);
    }
  }
  bool over() const { return next_ == all_.size() && ends_ == expected(); }

  void check() const {
    EXPECT_TRUE(over()) << "posted " << next_ << " of " << all_.size() << ", ends " << ends_ << " of "
                        << expected();
    EXPECT_TRUE(wrong_.empty()) << wrong_;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Operation& one = all_[i];
      EXPECT_EQ(one.completions, one.kind == Kind::message ? 0 : 1) << "operation " << i;
      EXPECT_EQ(one.arrivals, one.kind == Kind::message || one.kind == Kind::signal ? 1 : 0)
          << "operation " << i;
      if (one.kind != Kind::put && one.kind != Kind::signal) continue;
      EXPECT_TRUE(in_place(i)) << "operation " << i << ", " << one.bytes << " bytes";
    }
  }

 private:
  enum class Kind { message, put, signal, get };
  struct Operation {
    Kind kind;
    std::size_t bytes = 0;
    std::size_t offset = 0;
    Buffer memory;
    int completions = 0;
    int arrivals = 0;
  };
  static constexpr std::array<std::size_t, 12> kMessages = {0,   1,    7,    8,    500,  632,
                                                            633, 1000, 1200, 1500, 4096, 8184};
  static constexpr std::array<std::size_t, 11> kPuts = {0,   1,    8,    100,    511,   512,
                                                        513, 1160, 4096, 20'001, 70'001};
  static constexpr std::array<std::size_t, 8> kGets = {1, 8, 511, 512, 513, 1160, 5000, 40'001};

  static Buffer::iterator at(Buffer& buffer, std::size_t offset) {
    return buffer.begin() + static_cast<std::ptrdiff_t>(offset);
  }
  Buffer pattern(std::size_t index, std::size_t bytes) const {
    Buffer made(bytes);
    std::uint64_t state = seed_ * 1'000'003 + index;
    for (std::byte& one : made) {
      state = state * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
      one = static_cast<std::byte>(state >> 56);
    }
    return made;
  }
  bool in_place(std::size_t index) const {
    const Buffer wanted = pattern(index, all_[index].bytes);
    return std::equal(wanted.begin(), wanted.end(), at(to_.upper.segments[0], all_[index].offset));
  }
  void note(const char* what, std::uint64_t index) {
    if (wrong_.empty()) wrong_ = std::string(what) + ": operation " + std::to_string(index);
  }
  /// The number of events: one for a message, a get or a put; two for a put with a signal.
  std::size_t expected() const {
    return all_.size() +
           static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(),
                                                  [](const auto& one) { return one.kind == Kind::signal; }));
  }

  core::Post post(std::size_t index) {
    Operation& one = all_[index];
    Connection& connection = *from_.connection;
    switch (one.kind) {
      case Kind::message: {
        const std::uint64_t header = index;
        return connection.send(std::as_bytes(std::span(&header, 1)), one.memory);
      }
      case Kind::put: return connection.put(0, one.offset, one.memory, nullptr, index);
      case Kind::signal: {
        const Signal signal{static_cast<SignalSlot>(index), index + 7};
        return connection.put(0, one.offset, one.memory, &signal, index);
      }
      case Kind::get: break;
    }
    return connection.get(1, one.offset, one.memory, index);
  }

  void completed(core::Token token, Status status) {
    ++ends_;
    if (token >= all_.size()) return note("completed what there is not", token);
    Operation& one = all_[token];
    ++one.completions;
    if (!status.ok()) return note("failed", token);
    if (one.kind == Kind::get) {
      if (one.memory != pattern(token, one.bytes)) note("get brought other bytes", token);
      return;
    }
    if (!in_place(token)) note("put completed before its bytes were there", token);
    std::fill(one.memory.begin(), one.memory.end(), std::byte{0xEE});  // the caller may reuse the source now
  }
  void arrived(core::Bytes bytes) {
    ++ends_;
    std::uint64_t index = all_.size();
    if (bytes.size() >= sizeof index) std::memcpy(&index, bytes.data(), sizeof index);
    if (index >= all_.size()) return note("a message that nobody sent", index);
    ++all_[index].arrivals;
    const core::Bytes rest = bytes.subspan(sizeof index);
    const Buffer wanted = pattern(index, all_[index].bytes);
    if (!std::equal(rest.begin(), rest.end(), wanted.begin(), wanted.end()))
      note("message with other bytes", index);
  }
  void signalled(Signal signal) {
    ++ends_;
    if (signal.slot >= all_.size()) return note("a signal that nobody sent", signal.slot);
    Operation& one = all_[signal.slot];
    ++one.arrivals;
    if (signal.add != signal.slot + 7u) note("signal with another sum", signal.slot);
    if (!in_place(signal.slot)) note("signal before its bytes", signal.slot);
  }

  Station& from_;
  Station& to_;
  std::uint64_t seed_;
  std::vector<Operation> all_;
  std::size_t next_ = 0;
  std::size_t ends_ = 0;
  std::string wrong_;
};

/// Sends a message of `bytes` bytes, each with the value `fill`.
inline core::Post send(Station& from, std::size_t bytes, std::byte fill = std::byte{5}) {
  const Buffer payload(bytes, fill);
  return from.connection->send({}, payload);
}

}  // namespace aqueduct::conduits::udp::connection_tests
