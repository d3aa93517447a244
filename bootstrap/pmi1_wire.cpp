#include "bootstrap/pmi1_wire.hpp"

#include "bootstrap/stream.hpp"

#include <sodium.h>

#include <array>
#include <cerrno>
#include <charconv>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqueduct::bootstrap::pmi1 {
namespace {

constexpr int kLetters = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
/// The longest line that is accepted, in bytes: the protocol's limits for names and values are well below. Chosen.
constexpr std::size_t kMostLine = std::size_t{64} << 10;

/// Reads a number and removes it, and the character `behind` it, from the front of the text.
bool take_number(std::string_view& text, char behind, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != behind) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::optional<std::string_view> Line::field(std::string_view name) const {
  std::string_view rest = text_;
  while (!rest.empty()) {
    const auto blank = rest.find(' ');
    const std::string_view word = rest.substr(0, blank);
    rest = blank == std::string_view::npos ? std::string_view{} : rest.substr(blank + 1);
    if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=') {
      return word.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Line::number(std::string_view name) const {
  const auto found = field(name);
  std::uint32_t number = 0;
  if (!found) return std::nullopt;
  const char* const end = found->data() + found->size();
  const auto [stopped, error] = std::from_chars(found->data(), end, number);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

std::string to_letters(std::span<const std::byte> bytes) {
  std::string letters(sodium_base64_encoded_len(bytes.size(), kLetters), '\0');
  sodium_bin2base64(letters.data(), letters.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), kLetters);
  letters.pop_back();  // the zero at the end
  return letters;
}

std::optional<std::vector<std::byte>> from_letters(std::string_view letters) {
  if (letters.empty()) return std::vector<std::byte>();  // libsodium needs a valid address even for no bytes
  std::vector<std::byte> bytes(letters.size());          // upper bound
  std::size_t count = 0;
  const char* end = nullptr;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), letters.data(),
                        letters.size(), nullptr, &count, &end, kLetters) != 0 ||
      end != letters.data() + letters.size()) {
    return std::nullopt;
  }
  bytes.resize(count);
  return bytes;
}

std::optional<std::uint32_t> node_of(std::string_view mapping, std::uint32_t process) {
  constexpr std::string_view kStart = "(vector,";
  if (!mapping.starts_with(kStart)) return std::nullopt;
  mapping.remove_prefix(kStart.size());
  struct Block {
    std::uint32_t first = 0, nodes = 0, each = 0;
    std::uint64_t processes() const { return std::uint64_t{nodes} * each; }
  };
  std::vector<Block> blocks;
  std::uint64_t all = 0;
  while (mapping.starts_with('(')) {
    mapping.remove_prefix(1);
    Block block;
    if (!take_number(mapping, ',', block.first) || !take_number(mapping, ',', block.nodes) ||
        !take_number(mapping, ')', block.each)) {
      return std::nullopt;
    }
    blocks.push_back(block);
    all += block.processes();
    if (mapping.starts_with(',')) mapping.remove_prefix(1);
  }
  if (all == 0 || mapping != ")") return std::nullopt;
  // The mapping repeats its blocks until all processes have a node.
  std::uint64_t left = process % all;
  for (const Block& block : blocks) {
    if (left < block.processes()) return block.first + static_cast<std::uint32_t>(left / block.each);
    left -= block.processes();
  }
  return std::nullopt;
}

OpenFile OpenFile::of(int descriptor) noexcept {
  struct stat file {};
  if (::fstat(descriptor, &file) != 0) return {descriptor};
  return {descriptor, file.st_dev, file.st_ino};
}

bool OpenFile::is_still_open() const noexcept {
  const OpenFile now = of(descriptor);
  return inode != 0 && now.device == device && now.inode == inode;
}

Connection::~Connection() {
  if (owns_ && file_.is_still_open()) ::close(descriptor_);
}

bool Connection::tell(const std::string& line, std::chrono::milliseconds timeout) {
  if (!file_.is_still_open()) {
    trouble_ = Trouble::closed;
    return false;
  }
  switch (send_all(descriptor_, std::as_bytes(std::span(line)), StreamClock::now() + timeout)) {
    case Sent::all: return true;
    case Sent::late: trouble_ = Trouble::late; break;
    case Sent::closed: trouble_ = Trouble::closed; break;
  }
  return false;
}

std::optional<std::string> Connection::read_line(StreamClock::time_point deadline) {
  for (;;) {
    if (const auto end = arrived_.find('\n'); end != std::string::npos) {
      std::string line = arrived_.substr(0, end);
      arrived_.erase(0, end + 1);
      return line;
    }
    if (arrived_.size() > kMostLine) {
      trouble_ = Trouble::garbage;
      return std::nullopt;
    }
    if (!wait_for(descriptor_, POLLIN, deadline)) {
      trouble_ = Trouble::late;
      return std::nullopt;
    }
    std::array<char, 4096> piece;
    const auto got = ::recv(descriptor_, piece.data(), piece.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) {
      trouble_ = Trouble::closed;
      return std::nullopt;
    }
    arrived_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

std::optional<Line> Connection::ask(const std::string& line, std::string_view answer,
                                    std::chrono::milliseconds timeout) {
  if (!tell(line, timeout)) return std::nullopt;
  auto text = read_line(StreamClock::now() + timeout);
  if (!text) return std::nullopt;
  Line found(std::move(*text));
  if (found.field("cmd") != answer) {
    trouble_ = Trouble::garbage;
    return std::nullopt;
  }
  return found;
}

void Connection::wait_until_closed(StreamClock::time_point deadline) const noexcept {
  static_cast<void>(wait_for(descriptor_, POLLRDHUP, deadline));
}

bool Connection::is_closed() noexcept {
  char byte;
  return file_.is_still_open() && ::recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

}  // namespace aqueduct::bootstrap::pmi1
