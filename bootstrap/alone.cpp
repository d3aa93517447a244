#include "bootstrap/bootstrap.hpp"
#include "bootstrap/job_number.hpp"

namespace aqueduct::bootstrap {
namespace {

class Alone final : public Bootstrap {
 public:
  std::string_view launcher() const noexcept override { return "alone"; }
  std::uint32_t process() const noexcept override { return 0; }
  std::uint32_t processes() const noexcept override { return 1; }
  std::uint64_t job() const noexcept override { return job_; }

  Result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) override {
    std::vector<std::vector<std::byte>> all;
    all.emplace_back(mine.begin(), mine.end());
    return all;
  }

  // There is no other process to lose or to tell. The library does not end the program itself.
  void poll_losses(const std::function<void(std::uint32_t)>&) noexcept override {}
  void leave() noexcept override {}
  void abort(int, std::string_view) noexcept override {}
  bool lives_after_exit() const noexcept override { return true; }

 private:
  const std::uint64_t job_ = new_job_number();
};

}  // namespace

std::unique_ptr<Bootstrap> alone() { return std::make_unique<Alone>(); }

}  // namespace aqueduct::bootstrap
