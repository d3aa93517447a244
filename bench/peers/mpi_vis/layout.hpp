#pragma once

#include <aqueduct/vis.hpp>

#include "bench/peers/mpi.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace peers {

/// Pieces of memory, described in the terms of both libraries, and piece by piece for the check.
class Layout {
 public:
  /// MPI_Type_vector: pieces about 3.3 of their lengths apart, `bytes` in all.
  static Layout vector(std::size_t piece, std::size_t bytes);
  /// MPI_Type_create_subarray: the face of a cube of doubles whose elements are furthest apart (a row's length).
  static Layout face(int edge);
  /// MPI_Type_create_hindexed_block: doubles at `count` random places among `room`, in ascending order.
  static Layout indexed(std::size_t count, std::size_t room);

  const std::string& name() const noexcept { return name_; }
  /// The sum of the pieces.
  std::size_t bytes() const noexcept { return piece_ * offsets_.size(); }
  std::size_t piece() const noexcept { return piece_; }
  const std::vector<std::int64_t>& offsets() const noexcept { return offsets_; }
  /// From the base to the end of the last piece.
  std::size_t extent() const noexcept { return static_cast<std::size_t>(offsets_.back()) + piece_; }

  MPI_Datatype datatype() const noexcept { return datatype_.get(); }
  /// Aqueduct's pieces at a base, which is a GlobalPtr or a pointer. Refers to this layout.
  template <class Base>
  auto at(Base base) const {
    return strided_ ? aqueduct::pieces(base, *strided_)
                    : aqueduct::pieces(base, aqueduct::Indexed{offsets_, piece_});
  }

 private:
  Layout(std::string name, std::size_t piece, std::vector<std::int64_t> offsets,
         std::optional<aqueduct::Strided> strided, MPI_Datatype made)
      : name_(std::move(name)),
        piece_(piece),
        offsets_(std::move(offsets)),
        strided_(std::move(strided)),
        datatype_(made) {}

  std::string name_;
  std::size_t piece_;
  std::vector<std::int64_t> offsets_;
  std::optional<aqueduct::Strided> strided_;
  Datatype datatype_;
};

/// All layouts that are measured.
std::vector<Layout> all_layouts();

}  // namespace peers
