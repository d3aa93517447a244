#include "bootstrap/wire.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

namespace aqueduct::bootstrap::wire {
namespace {

constexpr std::size_t kLengthBytes = 4;

class Writer {
 public:
  explicit Writer(std::size_t kind, std::size_t body_bytes) {
    bytes_.reserve(kLengthBytes + 1 + body_bytes);
    number(0, kLengthBytes);
    number(kind, 1);
  }
  void number(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void blob(std::span<const std::byte> blob) {
    number(blob.size(), 4);
    bytes_.insert(bytes_.end(), blob.begin(), blob.end());
  }
  void text(std::string_view text) { blob(std::as_bytes(std::span{whole_characters(text, kMostText)})); }
  Blob finish() && {
    const std::size_t length = bytes_.size() - kLengthBytes;
    for (std::size_t i = 0; i < kLengthBytes; ++i) bytes_[i] = static_cast<std::byte>(length >> (8 * i));
    return std::move(bytes_);
  }

 private:
  Blob bytes_;
};

/// Every read checks how much is left; after the first one that fails, all later ones return nothing.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint64_t number(std::size_t bytes) {
    if (rest_.size() < bytes) {
      fail();
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(rest_[i]) << (8 * i);
    rest_ = rest_.subspan(bytes);
    return value;
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::span<const std::byte> bytes() {
    const std::size_t count = u32();
    if (rest_.size() < count) {
      fail();
      return {};
    }
    const auto found = rest_.first(count);
    rest_ = rest_.subspan(count);
    return found;
  }
  Blob blob() {
    const auto found = bytes();
    return {found.begin(), found.end()};
  }
  std::string text() {
    const auto found = bytes();
    if (found.size() > kMostText) {
      fail();
      return {};
    }
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }
  std::size_t remaining() const noexcept { return rest_.size(); }
  bool good() const noexcept { return good_; }
  void fail() noexcept {
    good_ = false;
    rest_ = {};
  }

 private:
  std::span<const std::byte> rest_;
  bool good_ = true;
};

void write(Writer& out, const Hello& m) {
  out.number(m.protocol, 4);
  out.number(m.library, 4);
  out.number(m.process, 4);
}
void write(Writer& out, const Exchange& m) {
  out.number(m.round, 4);
  out.blob(m.blob);
}
void write(Writer& out, const ExchangeResult& m) {
  out.number(m.round, 4);
  out.number(m.blobs.size(), 4);
  for (const Blob& blob : m.blobs) out.blob(blob);
}
void write(Writer& out, const Lost& m) { out.number(m.process, 4); }
void write(Writer&, const Leave&) {}
void write(Writer& out, const Abort& m) {
  out.number(static_cast<std::uint32_t>(m.code), 4);
  out.text(m.why);
}
void write(Writer& out, const Refused& m) {
  out.number(static_cast<std::uint16_t>(m.code), 2);
  out.text(m.why);
}

void write(Writer& out, const Exit& m) {
  out.number(m.process, 4);
  out.number(static_cast<std::uint32_t>(m.code), 4);
}

void read(Reader& in, Hello& m) {
  m.protocol = in.u32();
  m.library = in.u32();
  m.process = in.u32();
}
void read(Reader& in, Exchange& m) {
  m.round = in.u32();
  m.blob = in.blob();
}
void read(Reader& in, ExchangeResult& m) {
  m.round = in.u32();
  const std::size_t count = in.u32();
  // Each blob takes at least 4 bytes for its length: a count above that is invalid, and must not reach `reserve`.
  if (count > in.remaining() / 4) return in.fail();
  m.blobs.reserve(count);
  for (std::size_t i = 0; i < count && in.good(); ++i) m.blobs.push_back(in.blob());
}
void read(Reader& in, Lost& m) { m.process = in.u32(); }
void read(Reader&, Leave&) {}
void read(Reader& in, Abort& m) {
  m.code = static_cast<std::int32_t>(in.u32());
  m.why = in.text();
}
void read(Reader& in, Refused& m) {
  const auto code = in.number(2);
  // A newer launcher may know more codes than this library.
  m.code = code == 0 || code > static_cast<std::uint16_t>(ErrorCode::internal) ? ErrorCode::bootstrap_failed
                                                                               : static_cast<ErrorCode>(code);
  m.why = in.text();
}

void read(Reader& in, Exit& m) {
  m.process = in.u32();
  m.code = static_cast<std::int32_t>(in.u32());
}

template <class T>
Result<Message> decode_as(Reader in) {
  T message;
  read(in, message);
  // Only a Hello of another protocol version may have fields that this version does not know.
  const bool may_be_longer = std::is_same_v<T, Hello>;
  if (!in.good() || (in.remaining() != 0 && !may_be_longer)) return ErrorCode::bootstrap_failed;
  return Message{std::move(message)};
}

template <std::size_t... Kind>
Result<Message> decode_kind(std::size_t kind, Reader in, std::index_sequence<Kind...>) {
  Result<Message> found = ErrorCode::bootstrap_failed;
  ((kind == Kind ? void(found = decode_as<std::variant_alternative_t<Kind, Message>>(in)) : void()), ...);
  return found;
}

}  // namespace

std::string_view whole_characters(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  const auto within_character = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  std::size_t end = most;
  while (end > 0 && most - end < 3 && within_character(end)) --end;  // none is longer than four bytes
  return text.substr(0, within_character(end) ? most : end);
}

std::size_t frame_bytes(std::span<const Blob> blobs) noexcept {
  std::size_t bytes = kLengthBytes + 1 + 8;
  for (const Blob& blob : blobs) bytes += 4 + blob.size();
  return bytes;
}

Blob encode(const Message& message) {
  std::size_t body = 32;
  if (const auto* exchange = std::get_if<Exchange>(&message)) body += exchange->blob.size();
  if (const auto* result = std::get_if<ExchangeResult>(&message)) body = frame_bytes(result->blobs);
  Writer out(message.index() + 1, body);
  std::visit([&out](const auto& m) { write(out, m); }, message);
  return std::move(out).finish();
}

std::array<std::byte, 13> encode_exit(const Exit& exit) noexcept {
  constexpr std::size_t kKind = std::variant_size_v<Message>;
  static_assert(std::is_same_v<std::variant_alternative_t<kKind - 1, Message>, Exit>);
  std::array<std::byte, 13> frame{};
  const auto number = [&frame](std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) frame[at + i] = static_cast<std::byte>(value >> (8 * i));
  };
  number(0, static_cast<std::uint32_t>(frame.size() - kLengthBytes));
  frame[kLengthBytes] = static_cast<std::byte>(kKind);
  number(kLengthBytes + 1, exit.process);
  number(kLengthBytes + 5, static_cast<std::uint32_t>(exit.code));
  return frame;
}

std::array<std::byte, 5> encode_leave() noexcept {
  constexpr std::size_t kKind = 5;
  static_assert(std::is_same_v<std::variant_alternative_t<kKind - 1, Message>, Leave>);
  return {std::byte{1}, {}, {}, {}, std::byte{kKind}};  // the length counts the kind
}

Result<Message> decode(std::span<const std::byte> frame) {
  Reader in(frame);
  const std::size_t kind = in.number(1);
  if (!in.good() || kind == 0) return ErrorCode::bootstrap_failed;
  return decode_kind(kind - 1, in, std::make_index_sequence<std::variant_size_v<Message>>{});
}

void Frames::make_room(std::size_t bytes) {
  const std::size_t needed = bytes_.size() + bytes;
  if (needed > bytes_.capacity()) bytes_.reserve(std::max(needed, 2 * bytes_.capacity()));
}

void Frames::append(std::span<const std::byte> arrived) {
  if (taken_ > bytes_.size() / 2) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }
  bytes_.insert(bytes_.end(), arrived.begin(), arrived.end());
}

Result<std::optional<Message>> Frames::next() {
  const auto rest = std::span<const std::byte>(bytes_).subspan(taken_);
  if (rest.size() < kLengthBytes) return std::optional<Message>{};
  const std::size_t length = Reader(rest).u32();
  if (length == 0 || length > kMostFrame) return ErrorCode::bootstrap_failed;
  if (rest.size() - kLengthBytes < length) return std::optional<Message>{};
  auto message = decode(rest.subspan(kLengthBytes, length));
  if (!message) return message.status();
  taken_ += kLengthBytes + length;
  return std::optional<Message>{std::move(*message)};
}

}  // namespace aqueduct::bootstrap::wire
