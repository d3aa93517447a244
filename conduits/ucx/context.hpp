#pragma once

#include "conduits/ucx/library.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::conduits::ucx {

/// How a job will use UCX.
struct ContextOptions {
  std::string transports;         ///< as UCX_TLS; empty: the environment's, else all
  std::string devices;            ///< as UCX_NET_DEVICES; empty: the environment's, else all
  bool one_host = true;           ///< all ranks that UCX serves share this host
  bool other_hosts_only = false;  ///< none of them does: smp serves this host
  std::size_t ranks = 1;
  bool threads = false;  ///< several workers, each with its own thread
};

/// A UCP context: the transports of one process.
class Context {
 public:
  /// Opens a context. Null: `why` says what is wrong and what to do.
  static std::unique_ptr<Context> open(const ContextOptions& options, std::string& why);
  /// The same with given functions, some of which a test may have replaced.
  static std::unique_ptr<Context> open(const Library& ucp, const ContextOptions& options, std::string& why);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Library& ucp() const noexcept { return ucp_; }
  ucp_context_h handle() const noexcept { return handle_; }
  /// The transports and devices that UCX may use: "self/memory0", "tcp/eth0", …
  const std::vector<std::string>& resources() const noexcept { return resources_; }
  /// Those that may carry bytes between ranks, in words (core::Properties::network).
  std::string network() const;
  /// Whether a transport of that name is among them.
  bool has(std::string_view transport) const noexcept;
  /// Whether a network card that moves data without the system is among them.
  bool has_hardware() const noexcept;
  /// Whether UCX allocates memory that other processes of this host can map.
  bool maps_memory() const noexcept;
  /// Takes over memory that UCX allocated, and frees it at the end: other endpoints of this process may have mapped it.
  void keep(ucp_mem_h memory) noexcept;
  /// Never closes the context, because one of its workers could not be destroyed.
  void leak() noexcept { leaked_ = true; }
  /// Whether UCX may connect processes of one host by shared memory.
  bool shares_memory() const noexcept;
  /// Whether UCX can watch the connection to a peer, and end outstanding operations if it breaks. It cannot over shared
  /// memory.
  bool can_watch(bool on_this_host) const noexcept { return !(on_this_host && shares_memory()); }

 private:
  Context(const Library& ucp, ucp_context_h handle);

  Library ucp_;
  ucp_context_h handle_;
  std::vector<std::string> resources_;
  std::mutex mutex_;
  std::vector<ucp_mem_h> kept_;
  std::atomic<bool> leaked_ = false;
};

}  // namespace aqueduct::conduits::ucx
