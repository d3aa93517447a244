#pragma once

#include <aqueduct/endpoint.hpp>
#include <aqueduct/segment.hpp>

#include "bench/peers/library.hpp"

#include <vector>

namespace peers {

/// Aqueduct: blocking put and get, and put_signal there and back.
class AqueductLibrary final : public Library {
 public:
  /// Collective.
  AqueductLibrary(aqueduct::Endpoint& ep, std::size_t bytes, std::size_t extent);

  const char* name() const noexcept override { return "Aqueduct"; }
  void once(Operation operation, const Layout& layout) override;
  void finish() override;
  std::byte* plain() noexcept override { return plain_.data(); }
  std::byte* pieces() noexcept override { return segment_.mine().data(); }
  std::byte* returned() noexcept override { return pieces() + extent_; }

 private:
  void exchange(const Layout& layout);

  aqueduct::Endpoint& ep_;
  std::size_t extent_;
  std::vector<std::byte> plain_;
  aqueduct::Segment segment_;
  std::uint64_t exchanges_ = 0;
  std::uint64_t ends_ = 0;
};

}  // namespace peers
