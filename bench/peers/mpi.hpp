#pragma once

// MPI's C functions, without the C++ bindings of MPI 2, which do not compile without warnings.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <utility>

namespace peers {

/// A committed datatype. MPI ends the program at an error (MPI_ERRORS_ARE_FATAL), so return values are ignored.
class Datatype {
 public:
  /// Takes ownership of a datatype that an MPI_Type_… function made.
  explicit Datatype(MPI_Datatype made) : type_(made) { MPI_Type_commit(&type_); }
  Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  Datatype& operator=(Datatype&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;
  ~Datatype() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  MPI_Datatype get() const noexcept { return type_; }

 private:
  MPI_Datatype type_;
};

/// Initializes MPI, and finalizes it at the end of the scope.
class MpiScope {
 public:
  MpiScope(int& argc, char**& argv) { MPI_Init(&argc, &argv); }
  MpiScope(const MpiScope&) = delete;
  MpiScope& operator=(const MpiScope&) = delete;
  ~MpiScope() { MPI_Finalize(); }
};

}  // namespace peers
