#include "bench/peers/mpi_vis/mpi_library.hpp"

namespace peers {

namespace {

constexpr int kData = 1;
constexpr int kEnd = 2;

}  // namespace

MpiLibrary::MpiLibrary(std::size_t bytes, std::size_t extent) : extent_(extent), plain_(bytes) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Win_allocate(static_cast<MPI_Aint>(2 * extent), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_, &handle_);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_);
}

MpiLibrary::~MpiLibrary() {
  MPI_Win_unlock_all(handle_);
  MPI_Win_free(&handle_);
}

void MpiLibrary::take(const Layout& layout) {
  type_ = layout.datatype();
  elements_ = static_cast<int>(layout.bytes() / sizeof(double));
}

void MpiLibrary::once(Operation operation) {
  if (operation == Operation::exchange) {
    if (rank_ == 0) {
      MPI_Send(pieces(), 1, type_, 1, kData, MPI_COMM_WORLD);
      MPI_Recv(returned(), 1, type_, 1, kData, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(pieces(), 1, type_, 0, kData, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(pieces(), 1, type_, 0, kData, MPI_COMM_WORLD);
    }
    return;
  }
  if (rank_ != 0) return;
  if (operation == Operation::put) {
    MPI_Put(plain(), elements_, MPI_DOUBLE, 1, 0, 1, type_, handle_);
  } else {
    MPI_Get(plain(), elements_, MPI_DOUBLE, 1, 0, 1, type_, handle_);
  }
  MPI_Win_flush(1, handle_);
}

void MpiLibrary::finish() {
  if (rank_ == 0) {
    MPI_Send(nullptr, 0, MPI_BYTE, 1, kEnd, MPI_COMM_WORLD);
  } else {
    MPI_Request end = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_BYTE, 0, kEnd, MPI_COMM_WORLD, &end);
    for (int came = 0; came == 0;) MPI_Test(&end, &came, MPI_STATUS_IGNORE);
  }
  MPI_Win_sync(handle_);  // makes puts visible to plain loads, and stores visible to gets
}

}  // namespace peers
