#include "tools/aqrun/frame.hpp"

namespace aqrun {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kHeadBytes = 1 + 4 + 4;  // counted in the length

void put(std::string& into, std::size_t value) {
  for (unsigned i = 0; i < 4; ++i) into += static_cast<char>(value >> (8 * i));
}

/// Requires: four bytes are there.
std::uint32_t number(std::string_view from) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(from[i])} << (8 * i);
  return value;
}

}  // namespace

std::string encode(const Frame& frame) {
  std::string all;
  all.reserve(kLengthBytes + kHeadBytes + frame.bytes.size());
  put(all, kHeadBytes + frame.bytes.size());
  all += static_cast<char>(frame.kind);
  put(all, frame.process);
  put(all, frame.number);
  all += frame.bytes;
  return all;
}

void FrameReader::append(std::string_view arrived) {
  if (taken_ > bytes_.size() / 2) {
    bytes_.erase(0, taken_);
    taken_ = 0;
  }
  bytes_ += arrived;
}

std::optional<Frame> FrameReader::next() {
  const std::string_view here = rest();
  if (broken_ || here.size() < kLengthBytes) return std::nullopt;
  const std::size_t length = number(here);
  broken_ = length < kHeadBytes || length > kHeadBytes + kMostFrameBytes;
  if (broken_ || here.size() == kLengthBytes) return std::nullopt;
  // Before the frame is whole: behind an empty line that a shell prints, a length is too large by far, and the frame would
  // never be whole.
  const auto kind = static_cast<Kind>(here[kLengthBytes]);
  broken_ = kind < Kind::hello || kind > kLastKind;
  if (broken_ || here.size() - kLengthBytes < length) return std::nullopt;
  const std::string_view body = here.substr(kLengthBytes, length);
  taken_ += kLengthBytes + length;
  return Frame{kind, number(body.substr(1)), number(body.substr(5)), std::string(body.substr(kHeadBytes))};
}

}  // namespace aqrun
