#pragma once

#include "bench/peers/mpi_vis/library.hpp"

#include <vector>

namespace peers {

/// Open MPI: a window that both ranks lock once for all operations; datatypes at the target, or at both sides.
class MpiLibrary final : public Library {
 public:
  /// Collective.
  MpiLibrary(std::size_t bytes, std::size_t extent);
  ~MpiLibrary() override;

  const char* name() const noexcept override { return "MPI"; }
  void take(const Layout& layout) override;
  void once(Operation operation) override;
  void finish() override;
  std::byte* plain() noexcept override { return plain_.data(); }
  std::byte* pieces() noexcept override { return window_; }
  std::byte* returned() noexcept override { return window_ + extent_; }

 private:
  int rank_ = 0;
  std::size_t extent_;
  std::vector<std::byte> plain_;
  std::byte* window_ = nullptr;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  int elements_ = 0;
  MPI_Win handle_ = MPI_WIN_NULL;
};

}  // namespace peers
