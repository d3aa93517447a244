#include "bench/peers/mpi_vis/layout.hpp"

#include <array>
#include <random>
#include <set>

namespace peers {

namespace {

constexpr std::size_t kElement = sizeof(double);

std::string text_of(std::size_t bytes) {
  for (const auto& [shift, unit] : {std::pair{20, " MiB"}, {10, " KiB"}}) {
    if (bytes % (std::size_t{1} << shift) == 0) return std::to_string(bytes >> shift) + unit;
  }
  return std::to_string(bytes) + " B";
}

}  // namespace

Layout Layout::vector(std::size_t piece, std::size_t bytes) {
  const std::size_t stride = piece * 33 / 10 / kElement * kElement;
  const std::size_t count = bytes / piece;
  std::vector<std::int64_t> offsets(count);
  for (std::size_t i = 0; i < count; ++i) offsets[i] = static_cast<std::int64_t>(i * stride);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(count), static_cast<int>(piece / kElement),
                  static_cast<int>(stride / kElement), MPI_DOUBLE, &made);
  return {"vector " + text_of(piece), piece, std::move(offsets),
          aqueduct::Strided(piece, {{count, static_cast<std::int64_t>(stride)}}), made};
}

Layout Layout::face(int edge) {
  const auto n = static_cast<std::int64_t>(edge);
  std::vector<std::int64_t> offsets;
  for (std::int64_t row = 0; row < n * n; ++row) {
    offsets.push_back(row * n * static_cast<std::int64_t>(kElement));
  }
  const std::array sizes{edge, edge, edge};
  const std::array part{edge, edge, 1};
  const std::array first{0, 0, 0};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes.data(), part.data(), first.data(), MPI_ORDER_C, MPI_DOUBLE, &made);
  // The pieces of section(view(cube, {n, n, n}), {{0, n}, {0, n}, {0, 1}}), relative to a base that is known later.
  const std::int64_t row = n * static_cast<std::int64_t>(kElement);
  const auto count = static_cast<std::uint64_t>(n);
  const aqueduct::Strided strided(kElement, {{count, n * row}, {count, row}, {1, kElement}});
  return {"face of " + std::to_string(edge) + "^3", kElement, std::move(offsets), strided, made};
}

Layout Layout::indexed(std::size_t count, std::size_t room) {
  std::mt19937_64 random(1);  // the same seed at both ranks
  std::set<std::int64_t> places;
  while (places.size() < count) places.insert(static_cast<std::int64_t>(random() % room * kElement));
  std::vector<std::int64_t> offsets(places.begin(), places.end());
  const std::vector<MPI_Aint> displacements(offsets.begin(), offsets.end());
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(count), 1, displacements.data(), MPI_DOUBLE, &made);
  return {"indexed " + text_of(kElement), kElement, std::move(offsets), std::nullopt, made};
}

std::vector<Layout> all_layouts() {
  std::vector<Layout> all;
  for (const std::size_t piece : {8, 64, 256, 4096}) {
    for (const std::size_t bytes : {4 << 10, 64 << 10, 1 << 20}) all.push_back(Layout::vector(piece, bytes));
  }
  all.push_back(Layout::face(64));
  all.push_back(Layout::indexed(10'000, std::size_t{1} << 17));
  return all;
}

}  // namespace peers
