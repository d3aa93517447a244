#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::bootstrap {

using Blob = std::vector<std::byte>;

inline std::string text_of(const Blob& blob) {
  return {reinterpret_cast<const char*>(blob.data()), blob.size()};
}

/// Writes the numbers and blobs that processes send one another when a job or a segment begins.
class BlobWriter {
 public:
  void number(std::uint64_t value) {
    const std::size_t at = out_.size();
    out_.resize(at + sizeof value);
    std::memcpy(out_.data() + at, &value, sizeof value);
  }
  void bytes(std::span<const std::byte> value) {
    number(value.size());
    out_.insert(out_.end(), value.begin(), value.end());
  }
  void text(std::string_view value) { bytes(std::as_bytes(std::span(value.data(), value.size()))); }
  const Blob& blob() const noexcept { return out_; }

 private:
  Blob out_;
};

/// Reads them back in the same order, never beyond the end: `ok()` says whether everything was there.
class BlobReader {
 public:
  explicit BlobReader(std::span<const std::byte> in) noexcept : in_(in) {}

  std::uint64_t number() noexcept {
    std::uint64_t value = 0;
    if (in_.size() < sizeof value) {
      ok_ = false;
      return 0;
    }
    std::memcpy(&value, in_.data(), sizeof value);
    in_ = in_.subspan(sizeof value);
    return value;
  }
  Blob bytes() {
    const std::uint64_t size = number();
    if (size > in_.size()) {
      ok_ = false;
      return {};
    }
    Blob value(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(size));
    in_ = in_.subspan(size);
    return value;
  }
  std::string text() { return text_of(bytes()); }
  bool ok() const noexcept { return ok_; }

 private:
  std::span<const std::byte> in_;
  bool ok_ = true;
};

}  // namespace aqueduct::bootstrap
