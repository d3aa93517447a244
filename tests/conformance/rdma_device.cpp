#include "tests/conformance/rdma_device.hpp"

#include <filesystem>
#include <system_error>

namespace aqueduct::conformance {

std::string why_no_rdma_device() {
  std::error_code none;
  const std::filesystem::directory_iterator devices("/sys/class/infiniband", none);
  return devices == std::filesystem::directory_iterator() ? "there is no InfiniBand or RoCE device here" : "";
}

}  // namespace aqueduct::conformance
