#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <memory>

namespace aqueduct::conduits::ofi {

/// Closes an object of libfabric. One that refuses to close stays open until the process ends.
template <class T>
struct CloseFid {
  void operator()(T* object) const noexcept { static_cast<void>(::fi_close(&object->fid)); }
};

/// Owns an object of libfabric.
template <class T>
using Fid = std::unique_ptr<T, CloseFid<T>>;

/// Opens one. `call` gets the address of a plain pointer to set, and answers 0 or a negative error.
template <class T, class Call>
int open_fid(Fid<T>& fid, const Call& call) {
  T* raw = nullptr;
  const int error = call(&raw);
  if (error == 0) fid.reset(raw);
  return error;
}

struct FreeInfo {
  void (*free)(fi_info* info) = nullptr;  ///< the library's
  void operator()(fi_info* info) const noexcept { free(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

}  // namespace aqueduct::conduits::ofi
