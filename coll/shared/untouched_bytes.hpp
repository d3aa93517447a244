#pragma once

#include <cstddef>
#include <memory>

namespace aqueduct::coll {

/// Bytes without a value: of a large number the system gives pages as they are written to.
class UntouchedBytes {
 public:
  explicit UntouchedBytes(std::size_t bytes) : memory_(new std::byte[bytes]), bytes_(bytes) {}

  std::byte* data() noexcept { return memory_.get(); }
  const std::byte* data() const noexcept { return memory_.get(); }
  std::size_t size() const noexcept { return bytes_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_;
};

}  // namespace aqueduct::coll
