#include "bootstrap/key_value.hpp"

#include "bootstrap/job_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace aqueduct::bootstrap {
namespace {

using Blob = std::vector<std::byte>;
using Audience = KeyValueSpace::Audience;

class OverKeyValues final : public Bootstrap {
 public:
  explicit OverKeyValues(std::unique_ptr<KeyValueSpace> space) : space_(std::move(space)) {}

  std::string_view launcher() const noexcept override { return space_->launcher(); }
  std::uint32_t process() const noexcept override { return space_->process(); }
  std::uint32_t processes() const noexcept override { return space_->processes(); }
  std::uint64_t job() const noexcept override { return job_; }
  std::string host() const override { return space_->host(); }

  Result<std::vector<Blob>> exchange(std::span<const std::byte> mine) override {
    const std::lock_guard turn(exchanging_);
    const std::string name = fmt::format("aqueduct.{}", round_);
    // The job's number is one that its first process draws: a space has names of its own, but may reuse them.
    Blob numbered;
    if (round_ == 0) {
      const std::uint64_t drawn = new_job_number();
      numbered.resize(sizeof drawn);
      std::memcpy(numbered.data(), &drawn, sizeof drawn);
    }
    numbered.insert(numbered.end(), mine.begin(), mine.end());
    if (const Status status = give(name, numbered, Audience::everybody); !status) return status;
    auto all = take([&](std::uint32_t) -> const std::string& { return name; });
    if (!all || round_ != 0) {
      finish(all.status());
      return all;
    }
    for (Blob& blob : *all) {
      if (blob.size() < sizeof job_) {
        finish(ErrorCode::bootstrap_failed);
        return ErrorCode::bootstrap_failed;
      }
      if (job_ == 0) std::memcpy(&job_, blob.data(), sizeof job_);
      blob.erase(blob.begin(), blob.begin() + sizeof job_);
    }
    finish({});
    return all;
  }

  Result<std::vector<Blob>> exchange_parts(Parts mine, const std::vector<bool>& is_neighbour) override {
    if (round_ == 0) return Bootstrap::exchange_parts(mine, is_neighbour);
    const std::lock_guard turn(exchanging_);
    const std::string near = fmt::format("aqueduct.{}.near", round_);
    const std::string far = fmt::format("aqueduct.{}.far", round_);
    // Whom the launcher believes to be where may differ from what the library decided (AQUEDUCT_HOST_ID).
    bool agreed_near = true, agreed_far = true, any_far = false;
    for (std::uint32_t p = 0; p < processes(); ++p) {
      const bool known = p == process() || space_->knows_as_neighbour(p);
      if (is_neighbour[p] && !known) agreed_near = false;
      if (!is_neighbour[p] && known) agreed_far = false;
      any_far = any_far || !is_neighbour[p];
    }
    Status status = give(near, mine.to_neighbours, agreed_near ? Audience::neighbours : Audience::everybody);
    if (status && any_far) {
      status = give(far, mine.to_others, agreed_far ? Audience::others : Audience::everybody);
    }
    if (!status) return status;
    auto all = take([&](std::uint32_t p) -> const std::string& { return is_neighbour[p] ? near : far; });
    finish(all.status());
    return all;
  }

  void poll_losses(const std::function<void(std::uint32_t)>& lost) noexcept override {
    space_->poll_losses(lost);
  }
  void leave() noexcept override { space_->leave(); }
  void abort(int exit_code, std::string_view why) noexcept override { space_->abort(exit_code, why); }

 private:
  Status give(const std::string& name, std::span<const std::byte> value, Audience audience) {
    if (failure_ == ErrorCode::ok) failure_ = space_->put(name, value, audience).code();
    return failure_;
  }
  template <class NameOf>
  Result<std::vector<Blob>> take(const NameOf& name_of) {
    if (const Status met = space_->fence(); !met) return met;
    std::vector<Blob> all;
    for (std::uint32_t p = 0; p < processes(); ++p) {
      auto blob = space_->get(p, name_of(p));
      if (!blob) return blob.status();
      all.push_back(std::move(*blob));
    }
    return all;
  }
  void finish(Status how) noexcept {
    ++round_;
    if (!how) failure_ = how.code();
  }

  const std::unique_ptr<KeyValueSpace> space_;
  std::mutex exchanging_;
  std::uint32_t round_ = 0;
  std::uint64_t job_ = 0;
  ErrorCode failure_ = ErrorCode::ok;  // once set, no later exchange can succeed: the others are elsewhere
};

}  // namespace

std::unique_ptr<Bootstrap> over(std::unique_ptr<KeyValueSpace> space) {
  return std::make_unique<OverKeyValues>(std::move(space));
}

}  // namespace aqueduct::bootstrap
