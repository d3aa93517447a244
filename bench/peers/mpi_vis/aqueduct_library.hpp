#pragma once

#include <aqueduct/endpoint.hpp>
#include <aqueduct/segment.hpp>

#include "bench/peers/mpi_vis/library.hpp"

#include <optional>
#include <vector>

namespace peers {

/// Aqueduct: blocking put and get, and put_signal in both directions.
class AqueductLibrary final : public Library {
 public:
  /// Collective.
  AqueductLibrary(aqueduct::Endpoint& ep, std::size_t bytes, std::size_t extent);

  const char* name() const noexcept override { return "Aqueduct"; }
  void take(const Layout& layout) override;
  void once(Operation operation) override;
  void finish() override;
  std::byte* plain() noexcept override { return plain_.data(); }
  std::byte* pieces() noexcept override { return segment_.mine().data(); }
  std::byte* returned() noexcept override { return pieces() + extent_; }

 private:
  /// A layout at each of the addresses where it is used.
  struct Places {
    aqueduct::RemotePieces there;
    aqueduct::RemotePieces answer;  ///< where rank 1's pieces arrive on rank 0
    aqueduct::LocalConstPieces here;
    aqueduct::LocalPieces to;  ///< contiguous
    aqueduct::LocalConstPieces from;
  };
  void exchange();

  aqueduct::Endpoint& ep_;
  std::size_t extent_;
  std::vector<std::byte> plain_;
  aqueduct::Segment segment_;
  std::optional<Places> places_;
  std::uint64_t exchanges_ = 0;
  std::uint64_t ends_ = 0;
};

}  // namespace peers
