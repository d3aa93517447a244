#pragma once

#include "bench/peers/layer.hpp"
#include "bench/peers/mpi.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace peers {

/// MPI: windows in one passive-target epoch that never ends, and two-sided messages where others use active messages.
///
/// MPI ends the program at an error (MPI_ERRORS_ARE_FATAL), so the return values are ignored.
class MpiLayer {
 public:
  MpiLayer(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    for (const auto& [key, value] :
         {std::pair{"same_size", "true"}, {"same_disp_unit", "true"}, {"accumulate_ordering", "none"}}) {
      MPI_Info_set(info, key, value);
    }
    MPI_Win_allocate(static_cast<MPI_Aint>(kSegmentBytes), 1, info, MPI_COMM_WORLD, &segment_, &window_);
    MPI_Info_free(&info);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    barrier();
  }

  std::string version() const {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string line(text.data());  // MPICH's length includes the terminating zero
    line.resize(std::min(line.size(), line.find('\n')));
    std::replace(line.begin(), line.end(), '\t', ' ');
    return line;
  }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  std::byte* segment() {
    MPI_Win_sync(window_);  // makes puts visible to plain loads, and stores visible to gets
    return segment_;
  }
  void finish() {
    types_.clear();
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
    MPI_Finalize();
  }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
  void broadcast(int root, std::byte* data, std::size_t bytes) {
    MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, MPI_COMM_WORLD);
  }
  void scatter(int root, const std::byte* from, std::byte* to, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Scatter(from, count, MPI_BYTE, to, count, MPI_BYTE, root, MPI_COMM_WORLD);
  }
  void gather(int root, const std::byte* from, std::byte* to, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Gather(from, count, MPI_BYTE, to, count, MPI_BYTE, root, MPI_COMM_WORLD);
  }
  void all_to_all(const std::byte* from, std::byte* to, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Alltoall(from, count, MPI_BYTE, to, count, MPI_BYTE, MPI_COMM_WORLD);
  }
  void reduce(int root, const std::byte* from, std::byte* to, std::size_t bytes) {
    MPI_Reduce(from, to, words(bytes), MPI_UINT64_T, MPI_SUM, root, MPI_COMM_WORLD);
  }
  void all_reduce(const std::byte* from, std::byte* to, std::size_t bytes) {
    MPI_Allreduce(from, to, words(bytes), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  }
  void reduce_scatter(const std::byte* from, std::byte* to, std::size_t bytes) {
    MPI_Reduce_scatter_block(from, to, words(bytes), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  }
  void scan(const std::byte* from, std::byte* to, std::size_t bytes) {
    MPI_Scan(from, to, words(bytes), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  }
  void all_gather(const std::byte* from, std::byte* to, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Allgather(from, count, MPI_BYTE, to, count, MPI_BYTE, MPI_COMM_WORLD);
  }

  void put(int rank, const std::byte* from, std::size_t bytes) {
    put_begin(rank, from, bytes);
    MPI_Win_flush(rank, window_);
  }
  void get(int rank, std::byte* to, std::size_t bytes) {
    get_begin(rank, to, bytes);
    MPI_Win_flush(rank, window_);
  }
  void put_begin(int rank, const std::byte* from, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    peer_ = rank;
    MPI_Put(from, count, MPI_BYTE, rank, 0, count, MPI_BYTE, window_);
  }
  void get_begin(int rank, std::byte* to, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    peer_ = rank;
    MPI_Get(to, count, MPI_BYTE, rank, 0, count, MPI_BYTE, window_);
  }
  void transfers_end() { MPI_Win_flush(peer_, window_); }

  std::uint64_t fetch_add(int rank, std::uint64_t x) {
    std::uint64_t before = 0;
    fetch_add_begin(rank, x, &before);
    MPI_Win_flush(rank, window_);
    return before;
  }
  std::uint64_t compare_swap(int rank, std::uint64_t expected, std::uint64_t desired) {
    std::uint64_t before = 0;
    MPI_Compare_and_swap(&desired, &expected, &before, MPI_UINT64_T, rank, kWordOffset, window_);
    MPI_Win_flush(rank, window_);
    return before;
  }
  void add_begin(int rank, std::uint64_t x) {
    peer_ = rank;
    operand_ = x;  // must stay until the flush; all operations of a window add the same value
    MPI_Accumulate(&operand_, 1, MPI_UINT64_T, rank, kWordOffset, 1, MPI_UINT64_T, MPI_SUM, window_);
  }
  void fetch_add_begin(int rank, std::uint64_t x, std::uint64_t* before) {
    peer_ = rank;
    operand_ = x;
    MPI_Fetch_and_op(&operand_, before, MPI_UINT64_T, rank, kWordOffset, MPI_SUM, window_);
  }
  void atomics_end() { MPI_Win_flush(peer_, window_); }

  void put_spaced(int rank, const std::byte* from, const Spacing& spacing, bool both) {
    const MPI_Datatype type = type_of(spacing);
    const int bytes = static_cast<int>(spacing.piece * spacing.count);
    MPI_Put(from, both ? 1 : bytes, both ? type : MPI_BYTE, rank, 0, 1, type, window_);
    MPI_Win_flush(rank, window_);
  }
  void get_spaced(int rank, std::byte* to, const Spacing& spacing, bool both) {
    const MPI_Datatype type = type_of(spacing);
    const int bytes = static_cast<int>(spacing.piece * spacing.count);
    MPI_Get(to, both ? 1 : bytes, both ? type : MPI_BYTE, rank, 0, 1, type, window_);
    MPI_Win_flush(rank, window_);
  }
  void release(int rank) { MPI_Send(nullptr, 0, MPI_BYTE, rank, kEnd, MPI_COMM_WORLD); }
  void serve_transfers(int rank) {
    MPI_Recv(nullptr, 0, MPI_BYTE, rank, kEnd, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  void round_trip(int rank, Message, const std::byte* from, std::size_t bytes) {
    MPI_Send(from, static_cast<int>(bytes), MPI_BYTE, rank, kData, MPI_COMM_WORLD);
    MPI_Recv(nullptr, 0, MPI_BYTE, rank, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void serve_round_trips(int rank, Message, std::size_t bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      MPI_Recv(segment_, static_cast<int>(bytes), MPI_BYTE, rank, kData, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(nullptr, 0, MPI_BYTE, rank, kAnswer, MPI_COMM_WORLD);
    }
  }
  void flood(int rank, Message, const std::byte* from, std::size_t bytes) {
    for (MPI_Request& request : requests_) {
      MPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, rank, kData, MPI_COMM_WORLD, &request);
    }
    MPI_Waitall(kWindow, requests_.data(), MPI_STATUSES_IGNORE);
    MPI_Recv(nullptr, 0, MPI_BYTE, rank, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  /// Posts the next window's receives before the answer, so that no message is unexpected.
  void serve_floods(int rank, Message, std::size_t bytes, std::size_t count) {
    post_receives(rank, bytes);
    for (std::size_t i = 1; i <= count; ++i) {
      MPI_Waitall(kWindow, requests_.data(), MPI_STATUSES_IGNORE);
      if (i < count) post_receives(rank, bytes);
      MPI_Send(nullptr, 0, MPI_BYTE, rank, kAnswer, MPI_COMM_WORLD);
    }
  }

 private:
  static constexpr int kData = 1;
  static constexpr int kAnswer = 2;
  static constexpr int kEnd = 3;

  static int words(std::size_t bytes) { return static_cast<int>(bytes / sizeof(std::uint64_t)); }

  void post_receives(int rank, std::size_t bytes) {
    for (MPI_Request& request : requests_) {
      MPI_Irecv(segment_, static_cast<int>(bytes), MPI_BYTE, rank, kData, MPI_COMM_WORLD, &request);
    }
  }
  /// Commits the datatype at its first use, as a program does.
  MPI_Datatype type_of(const Spacing& spacing) {
    const auto key = std::pair{spacing.piece, spacing.count};
    auto found = types_.find(key);
    if (found == types_.end()) {
      // Uses doubles if they fit, because applications' arrays consist of them.
      const bool doubles = spacing.piece % sizeof(double) == 0;
      const std::size_t element = doubles ? sizeof(double) : 1;
      MPI_Datatype made = MPI_DATATYPE_NULL;
      MPI_Type_vector(static_cast<int>(spacing.count), static_cast<int>(spacing.piece / element),
                      static_cast<int>(spacing.stride / element), doubles ? MPI_DOUBLE : MPI_BYTE, &made);
      found = types_.emplace(key, Datatype(made)).first;
    }
    return found->second.get();
  }

  int rank_ = 0;
  int ranks_ = 0;
  int peer_ = 0;  ///< of the open window of operations
  std::byte* segment_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  std::uint64_t operand_ = 0;
  std::array<MPI_Request, kWindow> requests_{};
  std::map<std::pair<std::size_t, std::size_t>, Datatype> types_;
};

using ThisLayer = MpiLayer;

}  // namespace peers
